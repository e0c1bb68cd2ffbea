/** ISO 8601 in UTC with milliseconds, of a time in unix milliseconds. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
