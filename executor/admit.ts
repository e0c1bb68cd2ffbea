import {
  decodeKnownOrdersAnswer,
  decodeSettlementVerdict,
  encodeKnownOrdersQuestion,
  encodeSettlementQuestion,
} from '../bus-schemas/settlements.js'
import { askKnownOrders, askSettlement } from '../bus-schemas/subjects.js'
import { NoAnswer, type Bus } from '../runtime/bus/bus.js'
import type { ExecutePayload, Objection } from './payload.js'

/** Whether a match may be settled. `unavailable`: that is not known now. */
export type MatchAdmission =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'refused'; readonly objection: Objection }
  | { readonly kind: 'unavailable'; readonly why: string }

/** `key` is the caller's `Idempotency-Key`. Never rejects for an operating error. */
export type Admit = (payload: ExecutePayload, key: string | undefined) => Promise<MatchAdmission>

/** Longer than a matcher takes over a step of its log. */
const ANSWER_WITHIN_MS = 3_000
/** What only a market's own log gives to a match: the market, and the seq of the change that proposed it. */
const OF_A_LOG = /^(.+):[0-9]+$/

const ADMITTED = { kind: 'admitted' } as const
const refuse = (field: string, message: string, guilty?: 'venue'): MatchAdmission => ({
  kind: 'refused',
  objection: { field, message, ...(guilty && { guilty }) },
})

/**
 * Asks the market what its log says of a match (SET-055, SET-056). A key of the form of a log's is that log's alone: another
 * caller's match under it would be in the way of the market's own. Orders that the market does not know may be those of an
 * outside matcher, or have ended here: then the order intake, which forgets none, is asked.
 */
export const createAdmission =
  (bus: Pick<Bus, 'ask'>): Admit =>
  async (payload, key) => {
    try {
      return await admit(bus, payload, key)
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error
      return {
        kind: 'unavailable',
        why: `it is not known what is left to settle: ${error.message}`,
      }
    }
  }

async function admit(
  bus: Pick<Bus, 'ask'>,
  { market, match: { actions, orderData } }: ExecutePayload,
  key: string | undefined,
): Promise<MatchAdmission> {
  const [, named] = OF_A_LOG.exec(key ?? '') ?? []
  if (named !== undefined && named !== market) {
    return refuse('Idempotency-Key', 'is that of a match of another market')
  }
  const question = encodeSettlementQuestion({
    ...(named !== undefined && key !== undefined && { settlementId: key }),
    actions,
    takerFee: orderData.takerFee,
    fills: orderData.fillDetails.map(({ amountFilled, price }) => ({
      amount: amountFilled,
      price,
    })),
  })
  const verdict = decodeSettlementVerdict(
    await bus.ask(askSettlement(market), question, ANSWER_WITHIN_MS),
  )
  switch (verdict.kind) {
    case 'pending':
      return ADMITTED
    case 'later':
      return { kind: 'unavailable', why: 'the market has not come to this match yet' }
    case 'refused':
      // The market's own matcher asks for nothing else than its log holds.
      return refuse(verdict.field, verdict.message, named === undefined ? undefined : 'venue')
    case 'left':
      return judgeUnknown(bus, actions, verdict.unknown)
  }
}

async function judgeUnknown(
  bus: Pick<Bus, 'ask'>,
  actions: ExecutePayload['match']['actions'],
  unknown: readonly number[],
): Promise<MatchAdmission> {
  if (unknown.length === 0) return ADMITTED
  const orders = unknown.flatMap((i) => {
    const action = actions[i]
    return action === undefined ? [] : [{ owner: action.owner, nonce: action.nonce }]
  })
  const question = encodeKnownOrdersQuestion({ orders })
  const { known } = decodeKnownOrdersAnswer(
    await bus.ask(askKnownOrders, question, ANSWER_WITHIN_MS),
  )
  const ended = unknown[known.findIndex((isKnown) => isKnown)]
  return ended === undefined
    ? ADMITTED
    : refuse(`actions.${ended}`, 'has nothing left in this market')
}
