import type { Hex } from '../core/action.js'
import { transferRefusals } from '../core/transfer-refusals.js'
import type { TransferKind } from '../core/transfer.js'
import { answerLookup, refuseTransfer } from './answer-transfer.js'
import { askForRecord } from './ask-submitter.js'
import type { GatewayDeps, Handler } from './context.js'

/** Asks the submitter for the record under the path's `action_hash`, in either case of its digits. */
export function lookUpTransfer(deps: GatewayDeps, kind: TransferKind): Handler {
  return async (ctx) => {
    const { action_hash = '' } = ctx.params
    if (!/^0x[0-9a-fA-F]{64}$/.test(action_hash)) {
      return refuseTransfer(ctx, transferRefusals.actionHashForm)
    }
    const lookup = {
      request_id: ctx.state.requestId,
      action_hash: action_hash.toLowerCase() as Hex,
    }
    answerLookup(ctx, await askForRecord(deps.bus, kind, lookup))
  }
}
