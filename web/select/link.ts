/** The link of a market: what stands in the address after the page. */
export const linkOf = (market: string): string => `#/${encodeURIComponent(market)}`

/** The market that such a part of an address names; empty where it names none. */
export function marketOf(hash: string): string {
  try {
    return decodeURIComponent(hash.replace(/^#\/?/, ''))
  } catch (error) {
    if (error instanceof URIError) return ''
    throw error
  }
}
