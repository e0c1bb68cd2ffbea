import { expect } from 'chai'
import {
  decodeBalancesAnswer,
  decodeOrderFactsAnswer,
  encodeBalancesQuestion,
  encodeOrderFactsQuestion,
  type BalancesAnswer,
  type BalancesQuestion,
  type OrderFactsQuestion,
} from '../../../bus-schemas/account-facts.js'
import type { AccountFunds, FundsReader } from '../../../chain/contracts/funds-reader.js'
import { askBalances, askOrderFacts } from '../../../bus-schemas/subjects.js'
import { formatDecimal } from '../../../core/decimal.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import type { OrderFacts } from '../../../core/records/order-record.js'
import type { AccountBalances, BalancesBody } from '../../../interface/balances.js'
import { alicesKey, signedAuth } from '../../support/auth-frames.js'
import { aMarket } from '../../support/builders.js'
import { startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import type { Frame, SocketClient } from '../../support/socket-client.js'
import { alice, bob, historyOfTwo } from '../../support/two-owners.js'

const market = aMarket()
const subscribe = { op: 'subscribe', channel: 'balances' }

/** A chain on which every account is Alice's and has a million of each token, until it is changed. */
interface FakeChain extends FundsReader {
  total: bigint
  block: bigint
  isDown: boolean
  readAtMs: number
  reads: number
}

function aFakeChain(): FakeChain {
  const chain: FakeChain = {
    total: 1_000_000n * E18,
    block: 7n,
    isDown: false,
    readAtMs: Date.now(),
    reads: 0,
    readFunds(_, subaccountId) {
      chain.reads += 1
      if (chain.isDown) return Promise.resolve(undefined)
      const holding = (asset: typeof market.assetAddress) => ({
        asset,
        subId: 0n,
        balance: chain.total,
      })
      const funds: AccountFunds = {
        subaccountId,
        manager: market.marginManagerAddress,
        custodyOwner: alice,
        holdings: [holding(market.assetAddress), holding(market.quoteAssetAddress)],
        markets: [{ market, observed: undefined, facts: {} }],
        blockNumber: chain.block,
        blockTimeSec: 1_790_000_000,
        readAtMs: chain.readAtMs,
      }
      return Promise.resolve(funds)
    },
  }
  return chain
}

describe('ws-fanout balances', () => {
  let rig: FanOutRig
  let chain: FakeChain
  beforeEach(() => (chain = aFakeChain()))
  afterEach(() => rig.end())

  const start = async (nowMs: () => number = Date.now) => {
    rig = await startRig({ funds: chain, nowMs })
  }

  async function connectAlice(): Promise<SocketClient> {
    const client = await rig.connect()
    client.send(await signedAuth({ privateKey: alicesKey }))
    await client.next(({ message }) => message === 'authenticated')
    return client
  }

  async function ask(question: Partial<BalancesQuestion> = {}): Promise<BalancesAnswer> {
    const asked = encodeBalancesQuestion({ owner: alice, after: [], ...question })
    return decodeBalancesAnswer(await rig.bus.ask(askBalances, asked, 5_000))
  }

  async function askFacts(question: OrderFactsQuestion): Promise<OrderFacts> {
    const asked = encodeOrderFactsQuestion(question)
    const { body = '' } = decodeOrderFactsAnswer(await rig.bus.ask(askOrderFacts, asked, 5_000))
    return JSON.parse(body) as OrderFacts
  }

  const accountsIn = ({ body = '' }: BalancesAnswer): readonly AccountBalances[] =>
    (JSON.parse(body) as BalancesBody).accounts
  const dataOf = ({ data }: Frame) => data as AccountBalances[]
  const of = (type: string) => (frame: Frame) => frame.channel === 'balances' && frame.type === type

  /** What Alice's open orders take of an account, computed apart. */
  function reservedBy(count: number): Map<string, { base: bigint; quote: bigint }> {
    const accountOf = new Map<string, string>()
    const open = new Map<string, { base: bigint; quote: bigint }>()
    for (const change of historyOfTwo(60).slice(0, count)) {
      if (change.kind === 'OrderPlaced') {
        accountOf.set(change.orderId, String(change.order.subaccountId))
      }
      if (change.owner !== alice) continue
      const { side, limitPrice, open: amount } = change
      const quote = (limitPrice * amount) / E18
      open.set(change.orderId, side === 'sell' ? { base: amount, quote: 0n } : { base: 0n, quote })
    }
    const sums = new Map<string, { base: bigint; quote: bigint }>()
    for (const [orderId, { base, quote }] of open) {
      const account = accountOf.get(orderId) ?? ''
      const sum = sums.get(account) ?? { base: 0n, quote: 0n }
      sums.set(account, { base: sum.base + base, quote: sum.quote + quote })
    }
    return sums
  }

  const e18 = (text: string): bigint => {
    const [whole = '', fraction = ''] = text.split('.')
    return BigInt(whole + fraction.padEnd(18, '0'))
  }

  it('answers the accounts with which an owner has ordered, and what is reserved of them', async () => {
    await start()
    await rig.publish(historyOfTwo(60).slice(0, 292))
    const answer = await ask({ after: [{ market: market.market, seq: 292 }] })
    const accounts = accountsIn(answer)
    const expected = reservedBy(292)
    expect(accounts.map((one) => one.subaccount_id)).to.have.members([...expected.keys()])
    expect([...expected.values()].some(({ base }) => base > 0n)).to.equal(true)
    for (const { subaccount_id, tokens, facts, block_number } of accounts) {
      expect([facts, block_number]).to.deep.equal(['current', 7])
      const [base, quote] = tokens
      expect([base?.token, quote?.token]).to.deep.equal(['cNGN', 'USDC'])
      expect(e18(base?.reserved_by_orders ?? '')).to.equal(expected.get(subaccount_id)?.base)
      expect(e18(quote?.reserved_by_orders ?? '')).to.equal(expected.get(subaccount_id)?.quote)
      const claimed = e18(base?.reserved_by_orders ?? '') + e18(base?.reserved_by_matches ?? '')
      expect(e18(base?.available ?? '')).to.equal(chain.total - claimed)
    }
  })

  it('counts a match as reserved until the facts are of its block (MON-028)', async () => {
    await start()
    const changes = historyOfTwo(60)
    await rig.publish(changes)
    const [fill] = changes.flatMap((change) =>
      change.kind === 'OrderFilled' && change.owner === alice ? [change.fill] : [],
    )
    const reserved = async (block: bigint) => {
      chain.block = block
      const after = [{ market: market.market, seq: changes.length }]
      return accountsIn(await ask({ after })).flatMap(({ tokens }) =>
        tokens.map((token) => e18(token.reserved_by_matches)),
      )
    }
    const block = fill?.blockNumber ?? 0n
    const late = await reserved(block)
    const early = await reserved(block - 1n)
    expect(early.some((amount, i) => amount > (late[i] ?? 0n))).to.equal(true)
  })

  it('knows the pending matches of one order and, for its owner, what it needs of the account', async () => {
    await start()
    const changes = historyOfTwo(60).slice(0, 292)
    await rig.publish(changes)
    const after = [{ market: market.market, seq: 292 }]
    const pending = new Map<string, bigint>()
    for (const { orderId, pending: left, owner } of changes) {
      if (owner === alice) pending.set(orderId, left)
    }
    const [orderId = '', size = 0n] = [...pending].find(([, left]) => left > 0n) ?? []
    const rest = {
      subaccountId: 3n,
      side: 'buy' as const,
      price: priceE18(2n * E18),
      amount: amountE18(600_000n * E18),
    }
    const question = { market: market.market, orderId, owner: alice, after }
    const everyone = await askFacts(question)
    expect(everyone).to.have.all.keys('matches')
    const sizes = everyone.matches.map((match) => e18(match.size))
    expect(sizes.reduce((sum, one) => sum + one, 0n)).to.equal(size)
    expect(everyone.matches[0]).to.have.all.keys(
      ...['settlement_id', 'at', 'liquidity', 'price', 'size'],
    )

    const { account } = await askFacts({ ...question, rest })
    const reserved = account?.balances?.tokens[1]?.reserved_by_matches ?? ''
    expect(account?.balances?.subaccount_id).to.equal('3')
    expect(account?.needs).to.deep.equal([
      {
        token: 'USDC',
        asset_address: market.quoteAssetAddress,
        needed: '1200000',
        missing: formatDecimal(200_000n * E18 + e18(reserved), 18),
      },
    ])
    // The account is not Bob's: an order of his that names it shows nothing of it.
    const ofBob = await askFacts({ ...question, owner: bob, rest })
    expect(ofBob).to.deep.equal({ matches: [], account: { subaccount_id: '3', needs: [] } })
  })

  it('says that facts are stale, and that nothing is known (STR-043)', async () => {
    let nowMs = Date.now()
    await start(() => nowMs)
    chain.readAtMs = nowMs
    await rig.publish(historyOfTwo(10))
    const after = [{ market: market.market, seq: 50 }]
    expect(accountsIn(await ask({ after }))[0]?.facts).to.equal('current')
    chain.isDown = true
    nowMs += 15_001
    expect(accountsIn(await ask({ after }))[0]?.facts).to.equal('stale')
    expect(await ask({ accounts: [4_711n] })).to.deep.equal({ failed: 'unreadable' })
  })

  it('shows an account to its owner alone (MON-029, STR-039)', async () => {
    await start()
    expect(await ask({ owner: bob, accounts: [3n] })).to.deep.equal({ failed: 'not_owned' })
    expect(accountsIn(await ask({ accounts: [3n] }))[0]?.subaccount_id).to.equal('3')
    const client = await rig.connect()
    client.send({ ...subscribe, req_id: 'b' })
    expect(await client.next(({ type }) => type === 'error')).to.include({
      code: 'auth_required',
      message: 'authenticate before subscribing to balances',
    })
  })

  it('follows changes of orders and of the chain, and sends nothing while no amount changes', async () => {
    await start()
    const changes = historyOfTwo(60)
    await rig.publish(changes.slice(0, 292))
    const client = await connectAlice()
    client.send({ ...subscribe, req_id: 's' })
    const snapshot = await client.next(of('snapshot'))
    expect(snapshot).not.to.have.property('market')
    expect(dataOf(snapshot).length).to.be.greaterThan(1)
    await rig.publish(changes.slice(292))
    const first = await client.next(of('update'))
    expect(first.prev_seq).to.equal((first.seq ?? 0) - 1)
    chain.total += E18
    await client.next(
      (frame) =>
        of('update')(frame) &&
        dataOf(frame).every(({ tokens }) => e18(tokens[0]?.total ?? '') === chain.total),
    )
    const count = client.frames.length
    const before = chain.reads
    chain.block += 1n
    while (chain.reads < before + 2 * dataOf(snapshot).length) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(client.frames.slice(count).filter(of('update'))).to.deep.equal([])
  })

  it('resumes where nothing was missed, and else begins with a snapshot', async () => {
    await start()
    await rig.publish(historyOfTwo(20))
    const client = await connectAlice()
    client.send(subscribe)
    const { seq = 0 } = await client.next(of('snapshot'))
    const again = await connectAlice()
    again.send({ ...subscribe, since_seq: seq, req_id: 'r' })
    expect(await again.next(({ req_id }) => req_id === 'r')).to.include({
      message: 'resumed',
      channel: 'balances',
    })
    const late = await connectAlice()
    late.send({ ...subscribe, since_seq: 5 })
    expect(await late.next(({ type }) => type === 'error')).to.include({ code: 'resume_too_old' })
    await late.next(of('snapshot'))
    late.send({ op: 'unsubscribe', channel: 'balances', req_id: 'u' })
    expect(await late.next(({ req_id }) => req_id === 'u')).to.include({ message: 'unsubscribed' })
  })
})
