import { marketRefusals, futureRefusals } from './market-refusals.js'
import { cancelsRefusals, changeRefusals } from './order-refusals.js'
import { demoRefusals } from './demo-refusals.js'
import { indexRefusals } from './read-index-status.js'
import { authKeyUnreadable, readRefusals } from './read-refusals.js'
import { refusals, type Refusal } from './refusals.js'
import {
  chainUnreadable,
  transferRecordUnreadable,
  transfersUnavailable,
  transferUnknown,
} from './transfer-refusals.js'

/** `Retry-After` of a request that may be sent again, in seconds. */
export const RETRY_AFTER_SEC = 1

/**
 * Refusals of a venue that is too busy or too full, or of which a process, the chain or the bus does not answer: the same request,
 * or the same with a new proof, may be sent again after RETRY_AFTER_SEC.
 */
const SENT_AGAIN: ReadonlySet<string> = new Set(
  [
    ...[refusals.outcomeUnknown, refusals.overloaded],
    ...[refusals.tooManyUnchecked, refusals.ownerUnchecked],
    ...[refusals.readBehind, refusals.cancelTarget, refusals.cancelProofUnreadable],
    ...[cancelsRefusals.proofUseUnknown, changeRefusals.replacementUnchecked],
    ...[marketRefusals.accountUnreadable, marketRefusals.marketUnreadable],
    ...[marketRefusals.positionUnreadable, marketRefusals.marginUnreadable],
    ...[futureRefusals.bandUnreadable, indexRefusals.unavailable],
    demoRefusals.unavailable,
    ...[readRefusals.tooManyReads, readRefusals.minSeqAhead, readRefusals.tooManyWaits],
    ...[readRefusals.balancesUnserved, readRefusals.balancesUnreadable],
    ...[readRefusals.accountsBehind, readRefusals.accountsUnserved, authKeyUnreadable],
    ...[readRefusals.positionsUnreadable, readRefusals.permitNonceUnreadable],
    ...(['deposit', 'withdrawal'] as const).flatMap((kind) => [
      ...[chainUnreadable(kind), transfersUnavailable(kind)],
      ...[transferUnknown(kind), transferRecordUnreadable(kind)],
    ]),
  ].map(({ code }) => code),
)

export const mayBeSentAgain = ({ code }: Refusal): boolean => SENT_AGAIN.has(code)
