/** Times for eyes: local, or UTC; the zone stands in the title. */

const CLOCK = { hour12: false, hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
const MOMENT = { ...CLOCK, day: '2-digit', month: 'short' } as const

/** A format in the zone of the reader, and in UTC. They are made once: to make one takes longer than to draw its row. */
function formatter(options: Intl.DateTimeFormatOptions): (iso: string, isUtc: boolean) => string {
  const local = new Intl.DateTimeFormat('en-GB', options)
  const utc = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' })
  return (iso, isUtc) => (isUtc ? utc : local).format(new Date(iso))
}

/** `14:05:09`. */
export const clockOf = formatter(CLOCK)

/** `27 Nov 14:05:09`. */
export const momentOf = formatter(MOMENT)

/** With its zone. */
export const wholeTime = (iso: string): string => new Date(iso).toString()
