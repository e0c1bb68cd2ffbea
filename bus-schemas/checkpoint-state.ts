import { assertEngineVersion } from '../core/engine/engine-version.js'
import { restoreSnapshot } from '../core/engine/snapshot.js'
import type { MatcherState } from '../core/engine/state.js'
import { orUnusable } from './checkpoint.js'
import type { Checkpoint } from './checkpoint-form.js'

/**
 * The state of a checkpoint. Throws CheckpointUnusable when its rows do not make one. An engine version that this build does
 * not know breaks an invariant.
 */
export function checkpointState({ state }: Pick<Checkpoint, 'state'>): MatcherState {
  assertEngineVersion(state.identity.market, state.engineVersion)
  return orUnusable(() => restoreSnapshot(state))
}
