import Database from 'better-sqlite3'
import { expect } from 'chai'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { exportDay } from '../../../actors/operator/export/export-day.js'
import { NotFitting, writeParquet } from '../../../actors/operator/export/write-parquet.js'
import { OperatorOrderRefused } from '../../../actors/market-orders/order-refused.js'
import { hidePerpetual } from '../../../core/contracts/perpetual-facts.js'
import { formatDecimal } from '../../../core/decimal.js'
import { isoTime } from '../../../core/time.js'
import { historyPath } from '../../../data/history/project.js'
import { openReadModel } from '../../../data/history/read-model.js'
import { openSpanReader } from '../../../data/history/read-span.js'
import { createPriceWriter } from '../../../data/history/write-prices.js'
import { aMarket, aPerp } from '../../support/builders.js'
import { openHistory, streamed, type TestHistory } from '../../support/history.js'
import { place } from '../../support/market-acts.js'
import type { MarketAct } from '../../support/market-commands.js'
import { feedOf } from '../../support/market-feed.js'
import { perpetualFacts } from '../../support/perpetual.js'
import { tempDir } from '../../support/temp-dir.js'

const SPOT = aMarket()
const PERP = aPerp()
const DAY = '2026-01-01'
const FROM_MS = Date.parse(`${DAY}T00:00:00Z`)
const DAY_MS = 86_400_000
const NOW_MS = FROM_MS + 10 * DAY_MS

/** A trade every quarter of a day of both sides, through two days and a little of a third. */
const story: MarketAct[] = Array.from({ length: 9 }, (_, index): MarketAct[] => [
  ...[place(index % 2 === 0, 80 + index, 2), place(index % 2 !== 0, 80 + index, 2)],
  { act: 'settle', pick: index, outcome: 'success' },
  { act: 'wait', sec: DAY_MS / 4_000 },
]).flat()

describe('the export of a day', () => {
  let history: TestHistory
  let out: ReturnType<typeof tempDir>
  let dataDir: string
  before(() => {
    history = openHistory([SPOT, PERP])
    dataDir = dirname(history.path)
    expect(historyPath(dataDir)).to.equal(history.path)
    out = tempDir()
    for (const { market, ordinal } of [SPOT, PERP])
      history.projection.applyBatch(streamed(feedOf({ market, ordinal }, story)))
    const writer = createPriceWriter(history.db)
    for (const hour of [-1, 0, 23, 24]) {
      const atSec = FROM_MS / 1_000 + hour * 3_600
      const facts = hidePerpetual(perpetualFacts({ fundingRate: BigInt(-hour) }))
      writer.write(PERP, hour + 2, {
        facts,
        blockNumber: BigInt(hour + 9),
        blockTimeSec: atSec,
        readAtMs: atSec * 1_000,
      })
    }
  })
  after(() => {
    history.remove()
    out.remove()
  })

  const rowsOf = (file: string): string[][] =>
    readFileSync(join(out.path, file), 'utf8')
      .split('\r\n')
      .slice(0, -1)
      .map((line) => line.split(','))

  it('has each trade, candle, mark and rate of the day once, exact and in order (REA-065)', async () => {
    const dir = join(out.path, 'made')
    const lines = await exportDay({ dataDir, nowMs: NOW_MS }, { date: DAY, dir })
    expect(readdirSync(dir)).to.deep.equal(
      ['candles', 'funding', 'marks', 'trades'].flatMap((name) =>
        ['csv', 'parquet'].map((ending) => `${name}-${DAY}.${ending}`),
      ),
    )
    expect(lines.map((line) => line.replace(/^.*\//, ''))).to.deep.equal([
      `trades-${DAY}.parquet: 8 rows`,
      `candles-${DAY}.parquet: ${2 * (5 * 4 + 1)} rows`,
      `marks-${DAY}.parquet: 2 rows`,
      `funding-${DAY}.parquet: 2 rows`,
    ])
    const reads = openReadModel(history.path)
    const expected = [PERP, SPOT].flatMap(({ market }) =>
      reads
        .tradesWithin(market, { limit: 99, fromMs: FROM_MS, endMs: FROM_MS + DAY_MS })
        .reverse()
        .map(({ fill, atMs }) => [
          ...[market, String(fill.tradeId), isoTime(atMs), formatDecimal(fill.price, 18)],
          ...[formatDecimal(fill.amount, 18), fill.takerSide, formatDecimal(fill.takerFee, 18)],
          ...['', fill.takerOrderId, fill.makerOrderId, fill.txHash],
          ...[String(fill.blockNumber), 'false'],
        ]),
    )
    reads.close()
    expect(expected).to.have.length(8)
    const [head, ...trades] = rowsOf(`made/trades-${DAY}.csv`)
    expect(head?.slice(0, 6).join()).to.equal(
      'market,trade_id,created_at,price,size,aggressor_side',
    )
    expect(trades).to.deep.equal(expected)
    const [, ...candles] = rowsOf(`made/candles-${DAY}.csv`)
    const days = candles.filter(([, interval]) => interval === '1d')
    expect(days.map((row) => row.slice(0, 6).join())).to.deep.equal(
      [PERP, SPOT].map(({ market }) => `${market},1d,${DAY}T00:00:00.000Z,0.8,0.83,0.8`),
    )
    const [, ...funding] = rowsOf(`made/funding-${DAY}.csv`)
    expect(funding.map(([, at, , , , rate]) => [at, rate])).to.deep.equal([
      [`${DAY}T00:00:00.000Z`, '0'],
      [`${DAY}T23:00:00.000Z`, '-0.000000000000000023'],
    ])
  })

  it('has the same rows in both forms, decimals of Parquet with their scale (REA-065)', async () => {
    const dir = join(out.path, 'both')
    await exportDay({ dataDir, nowMs: NOW_MS }, { date: DAY, dir })
    for (const name of ['trades', 'candles', 'marks', 'funding']) {
      const [head = [], ...rows] = rowsOf(`both/${name}-${DAY}.csv`)
      const file = await asyncBufferFromFile(join(dir, `${name}-${DAY}.parquet`))
      const metadata = await parquetMetadataAsync(file)
      const { schema, num_rows } = metadata
      expect(num_rows).to.equal(BigInt(rows.length))
      expect(schema.map((column) => column.name)).to.deep.equal(['root', ...head])
      const decimals = schema.filter(({ converted_type: kind }) => kind === 'DECIMAL')
      for (const { precision, scale } of decimals)
        expect([precision, scale]).to.deep.equal([38, 18])
      // Of its decimals the reader makes numbers; without their kind it gives the bytes.
      const raw = schema.map(({ converted_type: kind, ...column }) =>
        kind === undefined || kind === 'DECIMAL' ? column : { ...column, converted_type: kind },
      )
      const stored = await parquetReadObjects({ file, metadata: { ...metadata, schema: raw } })
      const shown = stored.map((row) => head.map((column) => textOf(row[column])))
      expect(shown).to.deep.equal(rows)
      expect(decimals.length, name).to.be.above(1)
    }
  })

  /** A cell as the other form writes it; bytes are an integer at 1e18. */
  function textOf(cell: unknown): string {
    if (cell instanceof Date) return cell.toISOString()
    if (!(cell instanceof Uint8Array)) return String((cell as string | bigint | null) ?? '')
    return formatDecimal(BigInt.asIntN(128, BigInt(`0x${Buffer.from(cell).toString('hex')}`)), 18)
  }

  it('leaves no file of Parquet where a number does not fit, and says where it is', async () => {
    const path = join(out.path, 'wide.parquet')
    const columns = [{ name: 'price', kind: 'decimal' as const, of: (row: bigint) => row }]
    const most = 10n ** 38n - 1n
    expect(await writeParquet(path, columns, [[most], [-most]])).to.equal(2)
    const wide = await writeParquet(`${path}-2`, columns, [[most + 1n]]).catch(
      (error: unknown) => error,
    )
    expect(wide).to.be.instanceOf(NotFitting)
    expect(readdirSync(out.path)).to.not.include('wide.parquet-2')
  })

  it('writes every other file of a day with a trade that Parquet cannot hold', async () => {
    const dir = join(out.path, 'wide')
    const db = new Database(history.path)
    const first = `trade_id = (SELECT min(trade_id) FROM trades WHERE at_ms >= ${FROM_MS})`
    const price = db.prepare(`SELECT price FROM trades WHERE ${first}`).pluck().get()
    const setPrice = db.prepare(`UPDATE trades SET price = ? WHERE ${first}`)
    expect(setPrice.run(`1${'0'.repeat(40)}`).changes).to.equal(1)
    mkdirSync(dir)
    writeFileSync(join(dir, `trades-${DAY}.parquet`), 'of an earlier export')
    const lines = await exportDay({ dataDir, nowMs: NOW_MS }, { date: DAY, dir })
    setPrice.run(price)
    db.close()
    expect(
      lines.map((line) => /no Parquet: a price has more than 38 digits/.test(line)),
    ).to.deep.equal([true, false, false, false])
    expect(readdirSync(dir)).to.have.length(4 + 3)
  })

  it('reads no more than a page at once, whatever the day holds', () => {
    const reader = openSpanReader(history.path, 3)
    const span = { fromMs: FROM_MS, endMs: FROM_MS + DAY_MS }
    const trades = [...reader.trades(SPOT.market, span)]
    expect(trades.map(({ length }) => length)).to.deep.equal([3, 1])
    const minutes = [...reader.candles(SPOT.market, '1m', span)]
    expect(Math.max(...minutes.map(({ length }) => length))).to.be.at.most(3)
    expect(minutes.flat().map(({ startSec }) => startSec)).to.deep.equal(
      [0, 6, 12, 18].map((hour) => FROM_MS / 1_000 + hour * 3_600),
    )
    // Before the first trade, and after the last one.
    const before = { fromMs: FROM_MS - DAY_MS, endMs: FROM_MS }
    expect([...reader.trades(SPOT.market, before)].flat()).to.deep.equal([])
    const later = { fromMs: FROM_MS + 5 * DAY_MS, endMs: FROM_MS + 6 * DAY_MS }
    expect([...reader.trades(SPOT.market, later)].flat()).to.deep.equal([])
    reader.close()
  })

  it('replaces what an earlier one, or one that was killed, has left', async () => {
    const dir = join(out.path, 'again')
    mkdirSync(dir)
    writeFileSync(join(dir, `marks-${DAY}.csv`), 'old')
    writeFileSync(join(dir, `trades-${DAY}.csv.unfinished`), 'half')
    await exportDay({ dataDir, nowMs: NOW_MS }, { date: DAY, dir })
    expect(readdirSync(dir).filter((name) => name.endsWith('.unfinished'))).to.deep.equal([])
    expect(rowsOf(`again/marks-${DAY}.csv`)).to.have.length(3)
  })

  it('is refused of what is no day, of one that is not over, and without a projection', async () => {
    const refused = async (date: string, from = dataDir, nowMs = NOW_MS): Promise<string> => {
      const dir = join(out.path, 'refused')
      const error: unknown = await exportDay({ dataDir: from, nowMs }, { date, dir }).catch(
        (thrown: unknown) => thrown,
      )
      expect(error).to.be.instanceOf(OperatorOrderRefused)
      return (error as Error).message
    }
    for (const date of ['yesterday', '2026-02-30', '2026-1-1', '20260101', ''])
      expect(await refused(date)).to.contain('is not a day such as 2026-11-21')
    expect(await refused(DAY, dataDir, FROM_MS + DAY_MS - 1)).to.contain('is not over yet')
    expect(await refused(DAY, join(out.path, 'nowhere'))).to.contain('set DATA_DIR')
    expect(readdirSync(out.path)).to.not.include('refused')
  })
})
