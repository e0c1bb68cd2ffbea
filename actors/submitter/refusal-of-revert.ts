import { transferRefusals, wouldRevert } from '../../core/transfer-refusals.js'
import type { TransferRefusal } from '../../core/transfer-refusals.js'
import type { SignedTransfer, TransferRules } from './transfer-rules.js'

/**
 * The answer to a transfer that reverts when it is tried out: the advice of the check that a change of the chain has
 * overtaken (400), else 422; both name the revert. Rejects with ChainUnreachable.
 */
export async function refusalOfRevert<Transfer extends SignedTransfer>(
  rules: Pick<TransferRules<Transfer>, 'kind' | 'isRace' | 'preCheck' | 'revertName'>,
  transfer: Transfer,
  reverted: string,
): Promise<TransferRefusal> {
  const revert = rules.revertName(transfer.asset, reverted)
  if (revert === 'OV_ActionExpired') return { ...transferRefusals.actionExpired, revert }
  if (!rules.isRace(revert)) return wouldRevert(rules.kind, revert)
  const advice = (await rules.preCheck(transfer)) ?? wouldRevert(rules.kind, revert)
  return { ...advice, status: advice.status === 422 ? 400 : advice.status, revert }
}
