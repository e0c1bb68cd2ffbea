import { assertEngineVersion } from '../core/engine/engine-version.js'
import { restoreInPieces } from '../core/engine/snapshot.js'
import type { MatcherState } from '../core/engine/state.js'
import { atOnce, type Pieces } from '../core/pieces.js'
import { orUnusableInPieces } from './checkpoint.js'
import type { Checkpoint } from './checkpoint-form.js'

/**
 * The state of a checkpoint. Throws CheckpointUnusable when its rows do not make one. An engine version that this build does
 * not know breaks an invariant.
 */
export const checkpointState = (checkpoint: Pick<Checkpoint, 'state'>): MatcherState =>
  atOnce(checkpointStateInPieces(checkpoint))

/** The same, some hundred rows in each piece. */
export function* checkpointStateInPieces({
  state,
}: Pick<Checkpoint, 'state'>): Pieces<MatcherState> {
  assertEngineVersion(state.identity.market, state.engineVersion)
  return yield* orUnusableInPieces(restoreInPieces(state))
}
