import { expect } from 'chai'
import { hidePerpetual, type PerpetualFacts } from '../../../core/contracts/perpetual-facts.js'
import type { MarketObservation } from '../../../core/model/observation.js'
import { priceE18 } from '../../../core/money.js'
import { openReadModel, type ReadModel } from '../../../data/history/read-model.js'
import {
  createPriceWriter,
  MARKS_KEPT_SEC,
  RATES_KEPT_SEC,
} from '../../../data/history/write-prices.js'
import { aPerp } from '../../support/builders.js'
import { openHistory, type TestHistory } from '../../support/history.js'
import { e18, perpetualFacts } from '../../support/perpetual.js'

const perp = aPerp()
const HOUR = 3_600
/** The beginning of an hour. */
const START = 1_790_002_800

const observation = (
  atSec: number,
  mark: string,
  facts: Partial<PerpetualFacts> = {},
): MarketObservation => ({
  facts: hidePerpetual(perpetualFacts({ mark: priceE18(e18(mark)), ...facts })),
  blockNumber: BigInt(atSec),
  blockTimeSec: atSec,
  readAtMs: atSec * 1000,
})

describe('the history of prices', () => {
  let history: TestHistory
  let reads: ReadModel
  beforeEach(() => {
    history = openHistory([perp])
    reads = openReadModel(history.path)
  })
  afterEach(() => {
    reads.close()
    history.remove()
  })

  const write = (observations: readonly MarketObservation[], firstSeq = 1) => {
    const writer = createPriceWriter(history.db)
    observations.forEach((one, index) => writer.write(perp, firstSeq + index, one))
    return writer
  }
  const marks = (limit = 100, beforeSec?: number) =>
    reads
      .marks(perp.market, { limit, ...(beforeSec !== undefined && { beforeSec }) })
      .map(({ observedSec, mark }) => [observedSec - START, mark])

  it('has a mark for each minute in which the prices changed, and for each hour (REA-044)', () => {
    const writer = write([
      observation(START + 5, '0.6'),
      observation(START + 20, '0.7'),
      observation(START + 61, '0.6'),
      observation(START + 125, '0.8'),
      observation(START + HOUR, '0.8'),
      observation(START + HOUR + 90, '0.8', { index: priceE18(e18('0.5')) }),
    ])
    expect(marks()).to.deep.equal([
      [HOUR + 90, e18('0.8')],
      [HOUR, e18('0.8')],
      [125, e18('0.8')],
      [5, e18('0.6')],
    ])
    expect(writer.position(perp.market)).to.equal(6)
    expect(marks(2, START + HOUR)).to.deep.equal([
      [125, e18('0.8')],
      [5, e18('0.6')],
    ])
  })

  it('has the funding rate of the first observation of each hour, with its prices (REA-045)', () => {
    write([
      observation(START + 7, '0.6', { fundingRate: -5n }),
      observation(START + 800, '0.7', { fundingRate: 6n }),
      observation(START + HOUR + 9, '0.8', { fundingRate: 7n }),
    ])
    const rows = reads.fundingRates(perp.market, { limit: 9 })
    expect(rows).to.deep.equal([
      {
        startSec: START + HOUR,
        observedSec: START + HOUR + 9,
        fundingRate: 7n,
        blockNumber: START + HOUR + 9,
        mark: e18('0.8'),
        index: e18('1'),
      },
      {
        startSec: START,
        observedSec: START + 7,
        fundingRate: -5n,
        blockNumber: START + 7,
        mark: e18('0.6'),
        index: e18('1'),
      },
    ])
  })

  it('takes observations again after a restart, and skips stale prices and earlier blocks (REA-046)', () => {
    const observations = [observation(START, '0.6'), observation(START + 60, '0.7')]
    write(observations)
    write(observations)
    write([
      observation(START + 30, '0.9'),
      observation(START + 200, '0.9', { pricesStale: true }),
      observation(START + 300, '0', { index: priceE18(0n) }),
    ])
    expect(marks().length).to.equal(2)
    expect(createPriceWriter(history.db).position(perp.market)).to.equal(2)
  })

  it('removes what is older than is kept', () => {
    write([
      observation(START, '0.6'),
      observation(START + MARKS_KEPT_SEC, '0.7'),
      observation(START + MARKS_KEPT_SEC + 60, '0.8'),
    ])
    expect(marks().length).to.equal(2)
    expect(reads.fundingRates(perp.market, { limit: 9 }).length).to.equal(2)
    write([observation(START + RATES_KEPT_SEC + HOUR, '0.9')], 4)
    expect(reads.fundingRates(perp.market, { limit: 9 }).map((row) => row.startSec)).to.deep.equal([
      START + RATES_KEPT_SEC + HOUR,
      START + MARKS_KEPT_SEC,
    ])
  })
})
