import { RESTORE_SOURCE, type LoggedCommand, type ObservedGap } from '../../core/model/command.js'
import { RESTORED_SEQ_JUMP } from '../../core/model/limits.js'

/** What the log of a market says of the times that a restore could not bring back: the audit explains so much by them. */
export interface RestoredGaps {
  /** Takes each command of the log, with the market's `seq` before its message. */
  readonly take: (logged: LoggedCommand, seqBefore: number) => void
  /** Fills on the chain that no log holds. */
  fills(): ObservedGap['fills']
  /** Orders of which the chain counts more than the fills of the log. */
  hasOrder(orderId: string): boolean
  /** Whether a restore took the settlement's outcome from the chain: a journal need not know it. */
  isReported(settlementId: string): boolean
  /** Whether the settlement is of a match that is lost: its number is in no log. */
  isLost(settlementId: string): boolean
}

export function createRestoredGaps(): RestoredGaps {
  const fills: ObservedGap['fills'][number][] = []
  const orders = new Set<string>()
  const reported = new Set<string>()
  const lostAfter: number[] = []
  return {
    take({ source, command }, seqBefore) {
      if (source !== RESTORE_SOURCE) return
      if (command.kind === 'MarketRestored') lostAfter.push(seqBefore)
      if (command.kind === 'SettlementReported') reported.add(command.settlementId)
      if (command.kind !== 'GapObserved') return
      fills.push(...command.gap.fills)
      for (const { orderId } of command.gap.filled) orders.add(orderId)
    },
    fills: () => fills,
    hasOrder: (orderId) => orders.has(orderId),
    isReported: (settlementId) => reported.has(settlementId),
    isLost(settlementId) {
      const seq = Number(/:(\d+)/.exec(settlementId)?.[1])
      return lostAfter.some((after) => seq > after && seq <= after + RESTORED_SEQ_JUMP)
    },
  }
}
