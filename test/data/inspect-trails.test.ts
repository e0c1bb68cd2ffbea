import { expect } from 'chai'
import { join } from 'node:path'
import type { ChangeFacts } from '../../core/model/change.js'
import type { Order } from '../../core/model/order.js'
import { amountE18, E18, quoteE18 } from '../../core/money.js'
import { createProjection, HISTORY_FILE } from '../../data/history/project.js'
import { MAX_FOUND, openStoresReader, type StoresReader } from '../../data/inspect-stores.js'
import { JOURNAL_FILES, JOURNAL_MIGRATIONS } from '../../data/journal/journal-file.js'
import { createTransactionJournal } from '../../data/journal/transaction-journal.js'
import { openDatabase, UnknownSchemaVersion } from '../../data/open.js'
import { createTransferStore, TRANSFER_MIGRATIONS } from '../../data/transfer-store.js'
import { aFill, anOrder } from '../support/builders.js'
import { aBlock, aChange, CHANGES_START_MS } from '../support/changes.js'
import { projectedSpot } from '../support/history.js'
import { blockOf, fill, hashOf, sign } from '../support/journal-entries.js'
import { tempDir } from '../support/temp-dir.js'
import { anUnsentTransfer } from '../support/transfer-bodies.js'

const MARKET = 'cNGN-USDC'
const SIGNED_AT_MS = 1_760_000_000_000
const SIGNED_AT = '2025-10-09T08:53:20.000Z'
const placed = (order: Order, rank: number): ChangeFacts => ({ kind: 'OrderPlaced', order, rank })
const maker = anOrder({ orderId: 'maker-1', nonce: 12n })
const taker = anOrder({ orderId: 'taker-1', nonce: 3n, subaccountId: 12n, side: 'sell' })
const match = (seq: number) =>
  aFill({
    settlementId: `${MARKET}:${seq}`,
    tradeId: (seq + 1) * 65_536,
    takerSide: 'sell',
    amount: amountE18(E18),
    txHash: hashOf(seq),
    blockNumber: BigInt(seq),
  })
const makerLeg = (seq: number) => ({
  ...match(seq),
  liquidity: 'maker' as const,
  fee: quoteE18(0n),
})

describe('the trail that an operator reads', () => {
  const dir = tempDir()
  let stores: StoresReader
  const open = (file: string, migrations: URL) =>
    openDatabase({ path: join(dir.path, file), migrations, synchronous: 'NORMAL' })

  before(() => {
    const journal = open(JOURNAL_FILES.executor, JOURNAL_MIGRATIONS)
    fill(createTransactionJournal(journal, () => SIGNED_AT_MS))
    journal.close()
    const deposits = open(JOURNAL_FILES['deposit-submitter'], JOURNAL_MIGRATIONS)
    sign(
      createTransactionJournal(deposits, () => SIGNED_AT_MS),
      0,
      `deposit:${hashOf(1)}`,
    )
    deposits.close()
    for (const [n, file] of ['deposits.db', 'withdrawals.db'].entries()) {
      const transfers = open(file, TRANSFER_MIGRATIONS)
      const record = anUnsentTransfer({ actionHash: hashOf(n + 1), nonce: 5n })
      createTransferStore(transfers).add(record, JSON.stringify({ action: { nonce: '5' } }))
      transfers.close()
    }
    const history = openDatabase({ path: join(dir.path, 'history.db'), ...HISTORY_FILE })
    const projection = createProjection(history, [projectedSpot({ market: MARKET, ordinal: 0 })])
    const why = { kind: 'FillReversed', revert: 'gone' } as const
    const changes = [
      aChange(1, maker, placed(maker, 1)),
      aChange(2, taker, placed(taker, 2)),
      aChange(3, maker, { kind: 'OrderFilled', fill: makerLeg(3) }),
      aChange(4, taker, { kind: 'OrderFilled', fill: match(3) }),
      aChange(5, maker, { kind: 'OrderFilled', fill: makerLeg(5) }),
      aChange(6, taker, { kind: 'OrderFilled', fill: match(5) }),
      aChange(7, maker, { ...why, fill: makerLeg(5) }),
      aChange(8, taker, { ...why, fill: match(5) }),
    ]
    projection.applyBatch([{ streamSeq: 1, block: aBlock(MARKET, changes) }])
    history.close()
    stores = openStoresReader(dir.path)
  })
  after(() => {
    stores.close()
    dir.remove()
  })

  const attempt = (n: number) => ({ hash: hashOf(n), signedAt: SIGNED_AT })

  it('of a settlement has its transaction, how it ended, and every signed form', () => {
    const [trail, ...more] = stores.intents('m:3')
    expect(more).to.deep.equal([])
    expect(trail).to.deep.equal({
      journal: 'executor.db',
      intentId: 'm:3',
      recordedAt: SIGNED_AT,
      transactions: [
        {
          evmNonce: 5,
          status: 'mined',
          isFinal: false,
          displaced: false,
          outcome: 'reverted',
          revert: 'TM_FeeTooHigh',
          blockNumber: 12,
          minedHash: blockOf(5, 12).hash,
          attempts: [attempt(105), attempt(900)],
        },
      ],
    })
  })

  it('of a settlement that was displaced has both of its transactions', () => {
    const [trail] = stores.intents('m:5')
    expect(trail?.transactions).to.deep.equal([
      {
        evmNonce: 6,
        status: 'displaced',
        isFinal: true,
        displaced: true,
        outcome: 'success',
        blockNumber: 13,
        minedHash: blockOf(7, 13).hash,
        attempts: [attempt(106)],
      },
      {
        evmNonce: 7,
        status: 'open',
        isFinal: false,
        displaced: false,
        attempts: [attempt(107)],
      },
    ])
  })

  it('of a refused settlement has the reason and no transaction', () => {
    expect(stores.intents('m:4')).to.deep.equal([
      {
        journal: 'executor.db',
        intentId: 'm:4',
        recordedAt: SIGNED_AT,
        refused: 'BM_Nonce',
        transactions: [],
      },
    ])
  })

  it('of a transaction hash has every intent that it carries, in any case of its letters', () => {
    const ids = (subject: string) => stores.intents(subject).map(({ intentId }) => intentId)
    expect(ids(hashOf(104))).to.deep.equal(['m:1', 'm:2'])
    expect(ids(hashOf(900))).to.deep.equal(['m:3'])
    expect(ids(hashOf(900).toUpperCase().replace('X', 'x'))).to.deep.equal(['m:3'])
    expect(ids(hashOf(901))).to.deep.equal([])
    expect(ids(`${hashOf(900)}0`)).to.deep.equal([])
  })

  it('of an action has the journal and the record of its kind', () => {
    const [intent] = stores.intents(hashOf(1))
    expect(intent).to.deep.include({ journal: JOURNAL_FILES['deposit-submitter'] })
    expect(stores.transfers(hashOf(1)).map(({ kind, status }) => [kind, status])).to.deep.equal([
      ['deposit', 'pending'],
    ])
    const both = stores.transfers('5')
    expect(both.map(({ kind }) => kind)).to.deep.equal(['deposit', 'withdrawal'])
    expect(both[1]?.record).to.deep.include({ action_hash: hashOf(2) })
  })

  it('of trades is found by order, by settlement and by transaction, oldest first', () => {
    const { tradeId, price, amount, txHash } = match(3)
    const first = {
      tradeId,
      market: MARKET,
      at: new Date(CHANGES_START_MS + 4_000).toISOString(),
      settlementId: `${MARKET}:3`,
      makerOrderId: 'maker-1',
      takerOrderId: 'taker-1',
      price: String(price),
      amount: String(amount),
      txHash,
      blockNumber: 3,
      reversed: false,
    }
    expect(stores.trades(`${MARKET}:3`)).to.deep.equal([first])
    expect(stores.trades(hashOf(3))).to.deep.equal([first])
    for (const orderId of ['maker-1', 'taker-1']) {
      const [found, second] = stores.trades(orderId)
      expect(found, orderId).to.deep.equal(first)
      expect(second).to.deep.include({ settlementId: `${MARKET}:5`, reversed: true })
    }
    expect(stores.trades('order-9')).to.deep.equal([])
  })

  it('of a nonce has the orders with just that nonce', () => {
    expect(stores.ordersWithNonce('12')).to.deep.equal(['maker-1'])
    expect(stores.ordersWithNonce('3')).to.deep.equal(['taker-1'])
    for (const nonce of ['2', '%', '', '12x', 'x12'])
      expect(stores.ordersWithNonce(nonce), nonce).to.deep.equal([])
  })

  it('has at most so many of each kind, and is not read of another release', () => {
    const other = tempDir()
    const path = join(other.path, JOURNAL_FILES.executor)
    const db = openDatabase({ path, migrations: JOURNAL_MIGRATIONS, synchronous: 'NORMAL' })
    const ids = Array.from({ length: MAX_FOUND + 5 }, (_, index) => `m:1 life ${index + 2}`)
    sign(createTransactionJournal(db), 0, ...ids)
    const reader = openStoresReader(other.path)
    expect(reader.intents('m:1')).to.have.length(MAX_FOUND)
    reader.close()
    expect(() => reader.intents('m:1')).to.throw('not open')
    db.pragma('user_version = 999')
    expect(() => openStoresReader(other.path)).to.throw(UnknownSchemaVersion)
    db.close()
    other.remove()
  })

  it('has no orders where there is no history', () => {
    const other = tempDir()
    const reader = openStoresReader(other.path)
    expect(reader.ordersWithNonce('12')).to.deep.equal([])
    reader.close()
    other.remove()
  })
})
