import { assert } from '../assert.js'

/**
 * The newest version of the step: of what a command log means. A change after which a stored log would give other blocks
 * is one more version. The step then asks `state.engineVersion` and does as before until the log holds EngineVersionSet, so
 * that every fold of the log, whichever release makes it, gives the blocks that were published.
 */
export const ENGINE_VERSION: number = 3

/** The version in which a log begins. */
export const FIRST_ENGINE_VERSION = 1

/** From this version on the facts of a market without orders may be older by FACTS_SPARE_MS. */
export const SPARED_FACTS_VERSION = 2

/** From this version on an order of an account that the chain cannot value is held as `margin_unreadable`. */
export const UNREADABLE_MARGIN_VERSION = 3

/** Breaks an invariant when this build's step is older than the log. */
export function assertEngineVersion(
  market: string,
  version: number,
  newest = ENGINE_VERSION,
): void {
  assert(
    version <= newest,
    `the log of ${market} has engine version ${version}, this build carries out versions up to ` +
      `${newest}: run the release that set it, or a newer one`,
  )
}
