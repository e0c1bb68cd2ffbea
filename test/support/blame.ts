import type { MatchCall } from '../../chain/contracts/calldata.js'
import { createGuiltyFinder, type GuiltyDeps } from '../../chain/contracts/find-guilty.js'
import type { Blame } from '../../core/model/match.js'
import { ANVIL_CHAIN_ID } from './anvil.js'
import type { World } from './devnet-world.js'

export type BlameNow = (match: MatchCall, revert: string) => Promise<Blame | undefined>

/** What is blamed for a match that was simulated on the newest block of the world's chain. */
export function blameNow(
  { at, executor }: Pick<World, 'at' | 'executor'>,
  deps: Pick<GuiltyDeps, 'client' | 'markets'>,
): BlameNow {
  const findGuilty = createGuiltyFinder({
    ...deps,
    deployment: {
      matching: at.matching,
      subAccounts: at.sub_accounts,
      chainId: ANVIL_CHAIN_ID,
    },
    sender: executor,
  })
  return async (match, revert) => {
    const { hash } = await deps.client.getBlock()
    return (await findGuilty(match, revert, { kind: 'simulated', blockHash: hash })).guilty
  }
}
