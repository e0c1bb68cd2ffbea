import { mock } from 'node:test'
import { expect } from 'chai'
import type { FillEvent, OrderRecord } from '../../../client/index.js'
import { followOrders } from '../../../web/act/follow-orders.js'
import type { OwnFailure } from '../../../web/state/own-state.js'
import { anotherOwn, fakeTerminal } from './fake-terminal.js'

const HASH = `0x${'ab'.repeat(32)}`
const record = (changed: Partial<OrderRecord>): OrderRecord =>
  ({
    order_id: 'a',
    status: 'active',
    desired_amount: '4',
    pending_amount: '0',
    filled_amount: '0',
    ...changed,
  }) as OrderRecord

function aPage() {
  const page = fakeTerminal({})
  const followed = followOrders(page.terminal)
  const shown = () =>
    page.toasts.shown.value.map(({ kind, text, hash }) => `${kind} ${text} ${hash ?? ''}`.trim())
  return { ...page, followed, shown }
}

describe('web/act: orders with a toast', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  it('keep one toast at what became of them, with the transaction, until they have ended', () => {
    const { followed, own, shown, toasts } = aPage()
    followed.watch({ id: 'a', words: 'Buy USDC', told: 'open' })
    own.value?.note(record({}))
    expect(shown()).to.deep.equal([])
    own.value?.note(record({ status: 'matching', pending_amount: '4' }))
    expect(shown()).to.deep.equal(['busy Buy USDC: matching …'])
    const fills = own.value?.fills as unknown as { value: unknown }
    fills.value = [{ market: 'cNGN-USDC', leg: { order_id: 'a', tx_hash: HASH } }]
    own.value?.note(record({ status: 'filled', filled_amount: '4' }))
    expect(shown()).to.deep.equal([`good Buy USDC: filled ${HASH}`])
    toasts.dismiss('a')
    own.value?.note(record({ status: 'filled', filled_amount: '4' }))
    expect(shown()).to.deep.equal([])
    // What was said can be looked up, without what was under way.
    expect(toasts.log.value.map(({ text }) => text)).to.deep.equal(['Buy USDC: filled'])
  })

  it('are those of the page alone, and of its trader', () => {
    const { followed, own, shown } = aPage()
    own.value?.note(record({ status: 'filled', filled_amount: '4' }))
    expect(shown()).to.deep.equal([])
    const mine = own.value
    followed.watch({ id: 'b', words: 'Buy USDC', told: 'open' })
    own.value = anotherOwn()
    own.value = mine
    own.value?.note(record({ order_id: 'b', status: 'filled', filled_amount: '4' }))
    expect(shown()).to.have.length(1)
  })

  it('stay in sight where the chain has refused a match, with its reason', () => {
    const { own, shown } = aPage()
    const leg = {
      settlement_id: 's:1',
      order_id: 'a',
      status: 'failed',
      side: 'sell',
      size: '16000',
      price: '0.000625',
      fee: '0',
      created_at: '',
      reason: 'SRM_PortfolioBelowMargin',
    } as unknown as FillEvent
    const failure = own.value?.failure as unknown as { value: OwnFailure }
    failure.value = { market: 'cNGN-USDC', leg }
    mock.timers.tick(60_000)
    expect(shown()).to.deep.equal([
      'bad Buy USDC 10.00 at 1,600.0000: the chain did not carry it out: SRM_PortfolioBelowMargin',
    ])
  })

  it('are heard once a second at most, the newest last', () => {
    const { toasts } = aPage()
    const heard: string[] = []
    toasts.spoken.subscribe((text) => heard.push(text))
    for (const text of ['a', 'b', 'c']) toasts.tell({ id: text, text, kind: 'good' })
    expect(heard).to.deep.equal(['', 'a'])
    mock.timers.tick(1_000)
    mock.timers.tick(1_000)
    toasts.tell({ id: 'd', text: 'd', kind: 'good' })
    expect(heard).to.deep.equal(['', 'a', 'c', 'd'])
  })
})
