import { exactNumber } from '../decimal.js'

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
/** 2000-01-01 and 2100-01-01: identifiers give two digits of the year. */
const FIRST_SEC = 946_684_800n
const END_SEC = 4_102_444_800n

/** The UTC date of an expiry in unix seconds as identifiers spell it: `30NOV26`; undefined outside this century. */
export function dateCodeOf(expirySec: bigint): string | undefined {
  if (expirySec < FIRST_SEC || expirySec >= END_SEC) return undefined
  const date = new Date(exactNumber(expirySec) * 1_000)
  const two = (value: number): string => `${value}`.padStart(2, '0')
  return `${two(date.getUTCDate())}${MONTHS[date.getUTCMonth()]}${two(date.getUTCFullYear() % 100)}`
}

/** Why an identifier does not name this series (decision F20); undefined when it spells the date of its expiry. */
export function seriesProblem(row: { readonly market: string; readonly subId: bigint }) {
  const { market, subId } = row
  const code = dateCodeOf(subId)
  if (code === undefined) return `${market} has the sub_id ${subId}, which is no expiry`
  if (market.endsWith(`-${code}`)) return undefined
  return `${market} has the sub_id ${subId}, so its identifier must end with -${code}`
}
