import {
  applyCommand as applyPublished,
  type AppliedCommand,
} from '../../../../core/engine/apply-command.js'
import { ENGINE_VERSION } from '../../../../core/engine/engine-version.js'
import type { MatcherState } from '../../../../core/engine/state.js'
import type { LoggedCommand } from '../../../../core/model/command.js'

export * from '../../../../core/engine/apply-command.js'

/** The step of the next release: from its engine version on, the reason of a cancel is in capitals. */
export function applyCommand(state: MatcherState, logged: LoggedCommand): AppliedCommand {
  const { command } = logged
  if (state.engineVersion < ENGINE_VERSION || command.kind !== 'CancelOrder')
    return applyPublished(state, logged)
  const reason = command.reason.toUpperCase()
  return applyPublished(state, { ...logged, command: { ...command, reason } })
}
