import { computed, effect, signal, type ReadonlySignal } from '@preact/signals'
import { randomNonce, signOrder } from '../../client/index.js'
import { formatDecimal } from '../../core/decimal.js'
import type { OrderVerdict } from '../../interface/validation.js'
import type { Terminal } from './terminal.js'
import type { Views } from './views.js'

/** What the venue says that the ticket would do, with the account as it is now. */
export interface TicketForesight {
  /** Undefined while nothing was asked, or the ticket has changed since. */
  readonly verdict: ReadonlySignal<OrderVerdict | undefined>
  end(): void
}

const ASK_AFTER_MS = 500
/** The book moves: what was foretold is asked for again. */
const LASTS_MS = 5_000

/**
 * Asks once the ticket stands still. A key that needs no prompt signs an order that is sent to be validated and never placed; with a
 * wallet nothing is asked.
 */
export function createForesight(terminal: Terminal, views: Views): TicketForesight {
  const answered = signal<{ readonly key: string; readonly verdict: OrderVerdict } | undefined>(
    undefined,
  )
  const key = computed(() => {
    const { guardBps, ...typed } = views.typed.value
    return JSON.stringify([
      ...[terminal.market.value?.name, terminal.subaccount.value, typed, Number(guardBps)],
      ...[terminal.own.value?.trader.owner, Math.floor(terminal.nowSec.value / (LASTS_MS / 1_000))],
    ])
  })
  const steady = computed(() => key.value.slice(0, key.value.lastIndexOf(',')))
  let timer: ReturnType<typeof setTimeout> | undefined
  const ask = async (mine: string): Promise<void> => {
    const own = terminal.own.value
    const market = terminal.market.value
    const id = terminal.subaccount.value
    const planned = views.planned.value
    if (own?.trader.isSilent !== true || market === undefined || id === undefined) return
    if (typeof planned === 'string') return
    const { plan } = planned
    const { reduceOnly, force, post } = views.typed.value
    const nonce = randomNonce()
    const order = await signOrder(own.trader.signer, terminal.domain, {
      market: market.entry.value,
      nonce,
      orderId: `page-${nonce.toString(36)}`,
      subaccountId: id,
      owner: own.trader.owner,
      side: plan.side,
      price: formatDecimal(plan.limitE18, 18),
      amount: formatDecimal(plan.amountE18, 18),
      worstFeeBps: plan.worstFeeBps,
      expirySec: terminal.nowSec.value + 600,
      ...(reduceOnly && { reduceOnly: true }),
      ...(force !== 'GTC' && { timeInForce: force }),
      ...(post !== 'off' && { postOnly: post }),
    })
    const verdict = await terminal.venue.validateOrder(order)
    if (steady.value === mine) answered.value = { key: mine, verdict }
  }
  const stop = effect(() => {
    void key.value
    const mine = steady.value
    clearTimeout(timer)
    // No answer is no foresight: the receipt says what the book says.
    timer = setTimeout(() => void ask(mine).catch(() => undefined), ASK_AFTER_MS)
  })
  return {
    verdict: computed(() =>
      answered.value?.key === steady.value ? answered.value?.verdict : undefined,
    ),
    end() {
      clearTimeout(timer)
      stop()
    },
  }
}
