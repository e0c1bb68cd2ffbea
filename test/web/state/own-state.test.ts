import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import type { FillRecord, OrderRecord, RestClient, SignedFrame } from '../../../client/index.js'
import { createFrames } from '../../../web/state/frames.js'
import { isOpenOrder, openOwn, type OwnState } from '../../../web/state/own-state.js'
import type { Trader } from '../../../web/state/trader.js'
import { eventually } from '../../support/eventually.js'
import { fakeSocket } from './fake-socket.js'

const signer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const TRADER: Trader = {
  kind: 'developer',
  name: 'a',
  owner: signer.address,
  isSilent: true,
  signer,
  moneySigner: signer,
  known: new Map(),
}
const NOW_SEC = 1_800_000_000
const FRAMES = {
  header: 'X-Service-Auth',
  domain: 'localhost',
  product: 'service',
  history: { text: '', max_valid_seconds: 86_400 },
  socket: { text: '', max_valid_seconds: 300 },
}

const order = (id: string, rest: Partial<OrderRecord> = {}): OrderRecord =>
  ({
    order_id: id,
    market: 'A',
    status: 'active',
    created_at: id,
    updated_at: '1',
    ...rest,
  }) as OrderRecord

interface Told {
  readonly open?: readonly OrderRecord[]
  readonly newest?: readonly OrderRecord[]
  readonly byId?: Readonly<Record<string, OrderRecord>>
  /** The newest fills, and whether there are older ones; `none`: the venue does not say. */
  readonly fills?: readonly FillRecord[] | 'none'
  readonly hasOlderFills?: boolean
  /** Accounts that were just opened, and that no list has yet. */
  readonly known?: Trader['known']
  /** Numbers of the accounts that are listed. */
  readonly accounts?: readonly number[]
}

function anOwner(told: Told = {}) {
  const { open = [], newest = [], byId = {}, fills = [], hasOlderFills = false } = told
  const { known = TRADER.known, accounts = [] } = told
  const socket = fakeSocket()
  const due: (() => void)[] = []
  const frames = createFrames((run) => {
    due.push(run)
    setTimeout(frame, 0)
  })
  /** Draws the frame that is due. */
  const frame = (): void => due.splice(0).forEach((run) => run())
  const asked: string[] = []
  const venue = {
    balances: () => Promise.resolve({ accounts: [] }),
    positions: (id: string) =>
      Promise.resolve({ accounts: [{ subaccount_id: id }], positions: [] }),
    accounts: () =>
      Promise.resolve({
        accounts: accounts.map((id) => ({ subaccount_id: `${id}` })),
        session_keys: [],
      }),
    orderHistory: (_frame: unknown, { status }: { readonly status?: string }) =>
      Promise.resolve({ orders: status === 'open' ? open : newest }),
    fills: () =>
      fills === 'none'
        ? Promise.reject(new Error('no fills'))
        : Promise.resolve({ fills, ...(hasOlderFills && { next_before: fills.at(-1)?.order_id }) }),
    order: (id: string) => {
      asked.push(id)
      return byId[id] === undefined
        ? Promise.reject(new Error('none'))
        : Promise.resolve({ order: byId[id] })
    },
  } as unknown as RestClient
  const listed = ['A', 'B']
  const closable = { ...socket, isOpen: () => true, close: () => undefined }
  let proof: () => Promise<SignedFrame> = () => Promise.reject(new Error('no socket'))
  const own = openOwn({
    trader: { ...TRADER, known },
    venue,
    frames,
    facts: { frames: FRAMES },
    markets: () => listed.map((market) => ({ market })),
    nowSec: () => NOW_SEC,
    connect(authenticate) {
      proof = authenticate
      return closable as never
    },
  })
  return { own, socket, asked, listed, frame, proof }
}

const openIds = ({ orders }: OwnState): readonly string[] =>
  [...orders.value.values()].filter(isOpenOrder).map(({ order_id }) => order_id)

describe('web/state: what belongs to an owner', () => {
  it('has every open order, however many newer ones have ended elsewhere', async () => {
    const open = Array.from({ length: 61 }, (_, at) => order(`open-${at}`))
    const newest = Array.from({ length: 50 }, (_, at) =>
      order(`ended-${at}`, { market: 'B', status: 'cancelled' }),
    )
    const { own } = anOwner({ open, newest })
    await eventually(() => expect(openIds(own)).to.have.length(61))
    expect(own.orders.value.size).to.equal(111)
    own.close()
  })

  it('has the orders of a snapshot, and learns how one ended that the next snapshot lacks', async () => {
    const ended = order('a', { status: 'filled', updated_at: '2' })
    const { own, socket } = anOwner({ byId: { a: ended } })
    socket.of('orders', 'A').onSnapshot([order('a'), order('b')], 1)
    await eventually(() => expect(openIds(own)).to.deep.equal(['a', 'b']))
    socket.of('orders', 'A').onSnapshot([order('b')], 2)
    await eventually(() => expect(openIds(own)).to.deep.equal(['b']))
    expect(own.orders.value.get('a')?.status).to.equal('filled')
    own.close()
  })

  it('is not read before its fills are: what was held is worked out of them', async () => {
    const { own } = anOwner({ fills: 'none' })
    await eventually(() => expect(own.trouble.value).to.equal('no fills'))
    expect(own.isRead.value).to.equal(false)
    own.close()
    const { own: other } = anOwner()
    await eventually(() => expect(other.isRead.value).to.equal(true))
    other.close()
  })

  it('shows an update at once, and then what the record says more', async () => {
    const held = order('a', { held_reason: 'insufficient_balance', updated_at: '3' })
    const { own, socket } = anOwner({ byId: { a: held } })
    socket.of('orders', 'A').onSnapshot([order('a')], 1)
    await eventually(() => expect(openIds(own)).to.deep.equal(['a']))
    const update = { order_id: 'a', filled_amount: '4', updated_at: '2', status: 'active' }
    socket.of('orders', 'A').onUpdate(update as never, 2)
    await eventually(() => expect(own.orders.value.get('a')?.filled_amount).to.equal('4'))
    await eventually(() =>
      expect(own.orders.value.get('a')?.held_reason).to.equal('insufficient_balance'),
    )
    own.close()
  })

  it('lets no answer that was overtaken take back what is known', async () => {
    const { own } = anOwner()
    own.note(order('a', { status: 'filled', updated_at: '5' }))
    own.note(order('a', { status: 'active', updated_at: '4' }))
    await eventually(() => expect(own.orders.value.get('a')?.status).to.equal('filled'))
    own.close()
  })

  it('says from when on it has every fill, also where one of the page was reversed', async () => {
    const fills = [3, 2, 1].map(
      (second) =>
        ({
          order_id: `${second}`,
          trade_id: `${second}`,
          market: 'A',
          created_at: `2026-11-27T10:00:0${second}.000Z`,
        }) as unknown as FillRecord,
    )
    const whole = anOwner({ fills })
    await eventually(() => expect(whole.own.fills.value).to.have.length(3))
    expect(whole.own.fillsFrom.value).to.equal(undefined)
    const { own, socket } = anOwner({ fills, hasOlderFills: true })
    await eventually(() => expect(own.fills.value).to.have.length(3))
    const reversed = { ...fills[1], settlement_id: 's', status: 'reversed' }
    socket.of('fills', 'A').onUpdate(reversed as never, 1)
    await eventually(() => expect(own.fills.value).to.have.length(2))
    expect(own.fillsFrom.value).to.equal('2026-11-27T10:00:01.000Z')
    for (const each of [whole.own, own]) each.close()
  })

  it('has the positions of an account that was just opened, and that is not listed yet', async () => {
    const { own } = anOwner({ known: new Map([['0xmanager', '9']]) })
    await eventually(() => expect(own.positions.value).to.have.length(1))
    own.close()
  })

  it('asks for the positions of twenty accounts, however many another caller has opened for the owner', async () => {
    const accounts = Array.from({ length: 500 }, (_, at) => at + 1)
    const { own } = anOwner({ accounts, known: new Map([['0xmanager', '999']]) })
    const asked = ['999', ...accounts.slice(0, 19).map(String)]
    await eventually(() => expect(own.positions.value).to.not.have.length(0))
    const read = own.positions.value.map((body) => body.accounts[0]?.subaccount_id)
    expect(read).to.deep.equal(asked)
    own.close()
  })

  it('takes nothing that comes after it was left', () => {
    const { own, socket, frame } = anOwner()
    const orders = socket.of('orders', 'A')
    orders.onSnapshot([order('a')], 1)
    frame()
    expect(own.orders.value.size).to.equal(1)
    own.close()
    orders.onSnapshot([order('a'), order('b')], 2)
    frame()
    expect(own.orders.value.size).to.equal(1)
  })

  it('follows a market that was listed meanwhile from the next try on', async () => {
    const { own, socket, listed } = anOwner()
    listed.push('C')
    own.retry()
    socket.of('orders', 'C').onSnapshot([order('c', { market: 'C' })], 1)
    await eventually(() => expect(openIds(own)).to.deep.equal(['c']))
    own.close()
  })

  it('signs frames by the venue’s clock', async () => {
    const { own, proof } = anOwner()
    expect(await own.frame()).to.include({ issued_at: NOW_SEC, expiry: NOW_SEC + 86_400 })
    expect(await proof()).to.include({ issued_at: NOW_SEC })
    own.close()
  })

  it('says why nothing can be shown, and asks again', async () => {
    const { own, socket } = anOwner()
    socket.of('orders', 'A').onRefused?.('auth_failed', 'the wallet has rejected')
    expect(own.trouble.value).to.match(/rejected/)
    own.retry()
    expect(own.trouble.value).to.equal(undefined)
    socket.of('orders', 'A').onSnapshot([order('a')], 1)
    await eventually(() => expect(openIds(own)).to.deep.equal(['a']))
    own.close()
  })
})
