import {
  randomNonce,
  signCancel,
  signCancelAll,
  signCancelAllAfter,
  signCancelList,
  signOrder,
  type OrderRecord,
  type Side,
} from '../../client/index.js'
import { wordsOf } from '../../client/words-of.js'
import { formatDecimal } from '../../core/decimal.js'
import { editPlan, type OrderEdit } from '../select/edit-plan.js'
import { engineSide, marketTerms } from '../select/market-terms.js'
import type { OwnState } from '../state/own-state.js'
import type { Terminal } from '../state/terminal.js'
import { createLock } from './place-once.js'

/** Changes and cancels of orders that the venue has. */
export interface OrderChanges {
  cancel(record: OrderRecord): Promise<void>
  /** Up to 200 orders, by one signature. */
  cancelMany(records: readonly OrderRecord[]): Promise<void>
  /** All of the market, or one of its sides in trader terms, by one signature. */
  cancelMarket(market: string, side?: Side): Promise<void>
  /** All of the owner, in every market. */
  cancelAll(): Promise<void>
  /** Another price or size. A smaller size at the same price keeps its place in the queue. */
  edit(record: OrderRecord, to: OrderEdit): Promise<void>
  /** Cancels all orders unless it is called again within so many seconds; 0 disarms. */
  readonly cancelAllAfter: (seconds: number) => Promise<void>
}

const PROOF_LIVES_SEC = 60
/** So many cancels of one second differ. */
const PROOFS_A_SECOND = 30
const REASON = 'cancelled on the page'

/** Says what became of a deed, once however often it is pressed. */
type TellDeed = (
  id: string,
  words: string,
  act: (own: OwnState) => Promise<string>,
) => Promise<void>

function createDeed({ own, toasts }: Terminal): TellDeed {
  const locks = new Map<string, ReturnType<typeof createLock>>()
  return (id, words, act) => {
    const lock = locks.get(id) ?? createLock()
    locks.set(id, lock)
    return lock.run(async () => {
      const mine = own.value
      if (mine === undefined) return
      toasts.tell({ id, text: `${words} …`, kind: 'busy' })
      try {
        toasts.tell({ id, text: await act(mine), kind: 'good' })
      } catch (error) {
        toasts.tell({ id, text: `${words}: ${wordsOf(error)}`, kind: 'bad' })
      } finally {
        locks.delete(id)
      }
    })
  }
}

export function createChanging(terminal: Terminal): OrderChanges {
  const { venue, domain } = terminal
  const deed = createDeed(terminal)
  let given = 0
  // A signed cancel counts once: two of the same words and second would be one, and what was placed between them would stay.
  const proof = ({ trader }: OwnState) => {
    const issuedAtSec = terminal.nowSec.value
    given = (given + 1) % PROOFS_A_SECOND
    return { issuedAtSec, expirySec: issuedAtSec + PROOF_LIVES_SEC - given, owner: trader.owner }
  }
  const cancelScope = (scope: { readonly market?: string; readonly side?: Side }) =>
    deed(`cancel ${scope.market ?? ''} ${scope.side ?? ''}`, 'Cancelling', async (own) => {
      const body = await signCancelAll(own.trader.signer, domain, {
        ...scope,
        ...proof(own),
        reason: REASON,
      })
      const { orders, left } = await venue.cancelAll(body)
      const said = counted(orders.filter(({ outcome }) => outcome === 'cancelled').length)
      return left === 0 ? said : `${said} ${left} more follow.`
    })
  return {
    cancel: (record) =>
      deed(`cancel ${record.order_id}`, 'Cancelling', async (own) => {
        const { signer, owner } = own.trader
        const expirySec = terminal.nowSec.value + PROOF_LIVES_SEC
        const terms = { nonce: record.nonce, expirySec, owner, reason: REASON }
        own.note(await venue.cancelOrder(await signCancel(signer, domain, terms)))
        return counted(1)
      }),
    cancelMany: (records) =>
      deed('cancel many', 'Cancelling', async (own) => {
        const orderIds = records.map(({ order_id }) => order_id)
        const terms = { ...proof(own), orderIds, reason: REASON }
        const { orders } = await venue.cancelList(
          await signCancelList(own.trader.signer, domain, terms),
        )
        return counted(orders.filter(({ outcome }) => outcome === 'cancelled').length)
      }),
    cancelMarket(market, side) {
      const entry = terminal.entryOf(market)
      if (entry === undefined) return Promise.resolve()
      const engine = side && engineSide(marketTerms(entry), side)
      return cancelScope({ market, ...(engine !== undefined && { side: engine }) })
    },
    cancelAll: () => cancelScope({}),
    edit: (record, to) =>
      deed(`edit ${record.order_id}`, 'Changing', (own) => editOrder(terminal, own, record, to)),
    cancelAllAfter: async (seconds) => {
      const own = terminal.own.value
      if (own === undefined) return
      const terms = { ...proof(own), seconds }
      await venue.cancelAllAfter(await signCancelAllAfter(own.trader.signer, domain, terms))
    },
  }
}

const counted = (count: number): string =>
  count === 1 ? '1 order is cancelled.' : `${count} orders are cancelled.`

async function editOrder(
  { venue, domain, entryOf, nowSec }: Terminal,
  own: OwnState,
  record: OrderRecord,
  to: OrderEdit,
): Promise<string> {
  const entry = entryOf(record.market)
  if (entry === undefined) throw new Error('The market is not listed any more.')
  const { signer, owner } = own.trader
  const edited = editPlan(marketTerms(entry), record, to)
  if (typeof edited === 'string')
    throw new Error('The size is below the smallest that the market takes.')
  const { plan, isReduction } = edited
  const amount = formatDecimal(edited.amountE18, 18)
  if (isReduction) {
    const expirySec = nowSec.value + PROOF_LIVES_SEC
    const cancel = await signCancel(signer, domain, { nonce: record.nonce, expirySec, owner })
    own.note(await venue.reduceOrder({ ...cancel, desired_amount: amount }))
    return 'Reduced: it keeps its place in the queue.'
  }
  const nonce = randomNonce()
  const { post_only: post, reduce_only: reduceOnly } = record
  const body = await signOrder(signer, domain, {
    market: entry,
    nonce,
    orderId: `page-${nonce.toString(36)}`,
    owner,
    amount,
    subaccountId: record.subaccount_id,
    expirySec: record.expiry,
    side: plan.side,
    price: formatDecimal(plan.limitE18, 18),
    worstFeeBps: plan.worstFeeBps,
    ...(post !== undefined && { postOnly: post }),
    ...(reduceOnly === true && { reduceOnly }),
  })
  const { order, replaced } = await venue.replaceOrder({ ...body, replaces_nonce: record.nonce })
  own.note(replaced)
  own.note(order)
  return 'Replaced.'
}
