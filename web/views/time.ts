/** Times for eyes: local, or UTC; the zone stands in the title. */

const OPTIONS = { hour12: false, hour: '2-digit', minute: '2-digit', second: '2-digit' } as const

/** `14:05:09`. */
export const clockOf = (iso: string, isUtc: boolean): string =>
  new Date(iso).toLocaleTimeString('en-GB', { ...OPTIONS, ...(isUtc && { timeZone: 'UTC' }) })

/** `27 Nov 14:05:09`. */
export const momentOf = (iso: string, isUtc: boolean): string =>
  new Date(iso).toLocaleString('en-GB', {
    ...OPTIONS,
    day: '2-digit',
    month: 'short',
    ...(isUtc && { timeZone: 'UTC' }),
  })

/** With its zone. */
export const wholeTime = (iso: string): string => new Date(iso).toString()
