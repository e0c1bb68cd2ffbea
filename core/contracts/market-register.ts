import { MAX_ORDINAL } from '../limits.js'
import { OPEN, type Market } from '../model/market.js'
import { identityDifference, openingOf, type MarketOpening } from '../model/market-terms.js'
import { contractOf } from './registry.js'

/** What of a market no log holds, and a later entry of the register may replace: none of it enters a computation of money. */
export type MarketTexts = Readonly<Pick<Market, 'aliases' | 'orderEntry' | 'presentation'>>

/** A market as the register holds it: with what its log is opened, and its texts. */
export interface RegisterEntry {
  /** Identity, and the rules with which the log begins; from then on the log governs the rules. */
  readonly opening: MarketOpening
  readonly texts: MarketTexts
}

/** The entries of a register by the names of their markets, in the order of their first registration. */
export type MarketEntries = ReadonlyMap<string, RegisterEntry>

/** The entry of a market as a row states it. */
export const entryOf = (market: Market): RegisterEntry => ({
  opening: openingOf(market),
  texts: textsOf(market),
})

function textsOf({ aliases, orderEntry, presentation }: MarketTexts): MarketTexts {
  return { aliases, ...(orderEntry !== undefined && { orderEntry }), presentation }
}

/** The market of an entry, with the rules with which it opens. */
export function marketOf({ opening, texts }: RegisterEntry): Market {
  const { identity, rules, enabled } = opening
  const { settlementType } = contractOf(identity)
  // The settlement type follows from the contract type, which is all that tells the members of Market apart.
  return { ...identity, ...rules, enabled, standing: OPEN, settlementType, ...texts } as Market
}

/** The entries with those of one registration. A known market keeps its opening and gets the texts. */
export function withEntries(
  known: MarketEntries,
  registered: readonly RegisterEntry[],
): Map<string, RegisterEntry> {
  const entries = new Map(known)
  for (const entry of registered) {
    const { market } = entry.opening.identity
    const { opening } = entries.get(market) ?? entry
    entries.set(market, { opening, texts: entry.texts })
  }
  return entries
}

/** The least ordinal above all that were ever given, so that none is given twice; undefined when there is none left. */
export function nextOrdinal(ordinals: Iterable<number>): number | undefined {
  let next = 0
  for (const ordinal of ordinals) next = Math.max(next, ordinal + 1)
  return next > MAX_ORDINAL ? undefined : next
}

/** Ordinals of the entries, by the names of their markets. */
export const ordinalsByName = (entries: MarketEntries): ReadonlyMap<string, number> =>
  new Map(Array.from(entries, ([name, { opening }]) => [name, opening.identity.ordinal] as const))

/**
 * Why these entries are not registered together with the known ones, in one line; undefined when they can be. No two markets
 * share a name, an alias, an ordinal or an instrument; an ordinal is within MAX_ORDINAL; a known market keeps its identity.
 */
export function whyUnregistrable(
  known: MarketEntries,
  wanted: readonly RegisterEntry[],
): string | undefined {
  for (const { opening } of wanted) {
    const { market, ordinal } = opening.identity
    if (ordinal > MAX_ORDINAL) return `${market}: ordinal ${ordinal} is above ${MAX_ORDINAL}`
    const before = known.get(market)
    const differing = before && identityDifference(before.opening, opening)
    if (differing === undefined) continue
    const { field, text } = differing
    return `${market} is registered, and its ${field} never changes: it is ${text}`
  }
  if (new Set(wanted.map(nameOf)).size < wanted.length) return 'a market is named twice'
  const taken = new Map<string, string>()
  for (const entry of withEntries(known, wanted).values()) {
    const market = nameOf(entry)
    for (const claimed of claimedBy(entry)) {
      const holder = taken.get(claimed)
      if (holder !== undefined) return `${market}: ${claimed} is of ${holder}`
      taken.set(claimed, market)
    }
  }
  return undefined
}

const nameOf = ({ opening }: RegisterEntry): string => opening.identity.market

/** What no other market may have. */
const claimedBy = ({ opening: { identity }, texts }: RegisterEntry): string[] => [
  ...new Set([identity.market, ...texts.aliases].map((name) => `the name ${name}`)),
  `the ordinal ${identity.ordinal}`,
  `the instrument ${identity.assetAddress}:${identity.subId}`,
]
