/**
 * Times for eyes: local, or UTC; the zone stands in the title. They are cut from the text that a date has in every language: the
 * platform's own formats take longer to load than the page to be drawn.
 */

const MINUTE_MS = 60_000

/** `Fri, 27 Nov 2026 14:05:09 GMT` by the clock on the wall, here or in UTC. */
function wallTime(iso: string, isUtc: boolean): string {
  const at = new Date(iso)
  const offsetMs = isUtc ? 0 : at.getTimezoneOffset() * MINUTE_MS
  return new Date(at.getTime() - offsetMs).toUTCString()
}

/** `14:05:09`. */
export const clockOf = (iso: string, isUtc: boolean): string => wallTime(iso, isUtc).slice(17, 25)

/** `27 Nov 14:05:09`. */
export const momentOf = (iso: string, isUtc: boolean): string =>
  `${wallTime(iso, isUtc).slice(5, 11)} ${clockOf(iso, isUtc)}`

/** With its zone. */
export const wholeTime = (iso: string): string => new Date(iso).toString()
