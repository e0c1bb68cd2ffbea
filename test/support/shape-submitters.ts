import type { Bus } from '../../bus-schemas/bus.js'
import { askTransfer, askTransferRecord } from '../../bus-schemas/subjects.js'
import { decodeTransferRequest, encodeTransferAnswer } from '../../bus-schemas/transfer-requests.js'
import { readTransferBody } from '../../core/read-transfer-body.js'
import {
  type TransferRefusal,
  transferNotFound,
  transferRefusals,
} from '../../core/transfer-refusals.js'
import type { TransferKind } from '../../core/transfer.js'
import { validateDeposit } from '../../core/validate-deposit.js'
import { validateWithdrawal } from '../../core/validate-withdrawal.js'
import { places } from './transfer-bodies.js'

/** Submitters that judge the shape of what they get, believe no signature and remember nothing. */
export async function startShapeSubmitters(bus: Bus, nowMs: () => number): Promise<void> {
  for (const kind of ['deposit', 'withdrawal'] as const) {
    const answer = (refusal: TransferRefusal): Uint8Array =>
      encodeTransferAnswer({ kind: 'refused', refusal })
    await bus.answer(askTransfer(kind), kind, (data, replyTo) => {
      const { body } = decodeTransferRequest(data)
      bus.reply(replyTo, answer(judge(kind, JSON.parse(body), nowMs())))
    })
    await bus.answer(askTransferRecord(kind), kind, (_, replyTo) => {
      bus.reply(replyTo, answer(transferNotFound(kind)))
    })
  }
}

function judge(kind: TransferKind, body: unknown, nowMs: number): TransferRefusal {
  const read = readTransferBody(kind, body)
  if ('refusal' in read) return read.refusal
  const withdrawable = [places.wrappedUsdc, places.wrappedCngn]
  const valid =
    kind === 'deposit'
      ? validateDeposit(read, { ...places, nowMs })
      : validateWithdrawal(read, { ...places, withdrawable, nowMs })
  return 'refusal' in valid ? valid.refusal : transferRefusals.signature
}
