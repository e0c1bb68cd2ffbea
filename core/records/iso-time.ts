const MS_PER_SEC = 1_000
/** The second that was written last, and its text up to the point. */
let written = NaN
let text = ''

/** ISO 8601 in UTC with milliseconds, of a time in unix milliseconds that is not before 1970. */
export function isoTime(ms: number): string {
  const rest = ms % MS_PER_SEC
  // What is written together is of about one time, and a date costs more than the rest of a frame.
  if (ms - rest !== written) {
    text = new Date(ms - rest).toISOString().slice(0, -'000Z'.length)
    written = ms - rest
  }
  return `${text}${String(rest).padStart(3, '0')}Z`
}
