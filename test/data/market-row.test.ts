import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { MAX_OPEN_ORDER_LIMIT } from '../../core/entry/read-rules.js'
import { SUB_ID_MAX } from '../../core/limits.js'
import { joinMarket, MarketFileError, ownContracts, parseRow } from '../../data/market-row.js'
import { defaultMarketFile } from '../../data/markets.js'
import { testAddresses } from '../support/builders.js'

type Row = Readonly<Record<string, unknown>>
const [spot = {}] = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Row[]
const marketOf = (fields: Row = {}) => joinMarket(parseRow({ ...spot, ...fields }), testAddresses)

/** What is wrong with the row of these fields; undefined when nothing is. */
function problemOf(fields: Row): string | undefined {
  try {
    parseRow({ ...spot, ...fields })
    return undefined
  } catch (error) {
    expect(error).to.be.instanceOf(MarketFileError)
    return (error as Error).message
  }
}

describe('a row of the market file', () => {
  it('says of each field what it must be', () => {
    const decimal = 'must be positive decimal text'
    for (const [field, wrong, problem] of [
      ['tick_size', '0', decimal],
      ['tick_size', '-1', decimal],
      ['min_size', '1e3', decimal],
      ['amount_step', '', decimal],
      ['min_notional', '-1', 'must be decimal text'],
      ['min_notional', 'x', 'must be decimal text'],
      ['sub_id', '1.5', 'must be base-10 digits'],
      ['contract_multiplier', '', 'must be base-10 digits'],
      [
        'open_order_limit',
        String(MAX_OPEN_ORDER_LIMIT + 1),
        `must be at most ${MAX_OPEN_ORDER_LIMIT}`,
      ],
      ['contract_type', 'option', 'must be a known contract type'],
    ] as const)
      expect(problemOf({ [field]: wrong }), `${field} ${wrong}`).to.equal(`${field} ${problem}`)
  })

  it('has numbers in their bounds', () => {
    const allowed: Row[] = [
      ...[0, 65_535].map((ordinal) => ({ ordinal })),
      ...[0, 10_000].map((fee) => ({ taker_fee_bps: fee, maker_fee_bps: fee })),
      ...['0', String(MAX_OPEN_ORDER_LIMIT)].map((limit) => ({ open_order_limit: limit })),
      ...['A', '0-z', 'x'.repeat(64)].map((market) => ({ market })),
      { sub_id: String(SUB_ID_MAX) },
    ]
    for (const fields of allowed)
      expect(problemOf(fields), JSON.stringify(fields)).to.equal(undefined)
    const refused: Row[] = [
      ...[-1, 65_536, 1.5, '1'].map((ordinal) => ({ ordinal })),
      ...[-1, 10_001, 0.5].flatMap((fee) => [{ taker_fee_bps: fee }, { maker_fee_bps: fee }]),
      ...['', ' A', 'A.', 'x'.repeat(65)].map((market) => ({ market })),
      { sub_id: String(SUB_ID_MAX + 1n) },
      ...[{ order_entry: { name: 'x', orientation: 'other' } }, { order_entry: { name: 'x' } }],
      ...[{ enabled: 'true' }, { aliases: [1] }, { presentation: {} }, { unknown: 1 }],
    ]
    for (const fields of refused)
      expect(problemOf(fields), JSON.stringify(fields)).to.be.a('string')
  })

  it('has the settlement type of its contract type', () => {
    expect(problemOf({ settlement_type: 'physical_delivery' })).to.equal(
      `the market ${String(spot.market)} has the settlement_type physical_delivery, a spot market has spot`,
    )
    const future = { contract_type: 'future', settlement_type: 'cash_settled_future' }
    expect(problemOf({ ...future, market: 'X', sub_id: '86400' })).to.match(
      /^the market .*not an expiry/,
    )
  })

  it('has limits, of which 0 of the notional is none', () => {
    expect(marketOf()).not.to.have.any.keys('minNotional', 'openOrderLimit')
    expect(marketOf({ min_notional: '0' })).not.to.have.property('minNotional')
    expect(marketOf({ min_notional: '1.5' })).to.include({ minNotional: 15n * 10n ** 17n })
    expect(marketOf({ open_order_limit: '0' })).to.include({ openOrderLimit: 0 })
    const steps = { min_size: '2', amount_step: '2.0' }
    expect(marketOf(steps)).to.include({ amountStep: 2n * 10n ** 18n })
    expect(problemOf({ ...steps, min_size: '1' })).to.equal(
      `the market ${String(spot.market)} has an amount_step that must equal min_size, the grid of amounts: set both`,
    )
  })

  it('says how the market is presented, by the names of the interface', () => {
    const presentation = marketOf().presentation
    const given = spot.presentation as Record<string, string>
    const camel = (name: string) =>
      name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
    expect(presentation).to.deep.equal(
      Object.fromEntries(Object.entries(given).map(([name, text]) => [camel(name), text])),
    )
    expect(Object.keys(presentation)).to.have.length(12)
  })

  it('names addresses, each with 40 hex digits in the deployment', () => {
    const row = parseRow(spot)
    expect(ownContracts(row)).to.deep.equal([spot.asset, spot.trade_module])
    const name = String(spot.asset)
    for (const address of [
      `0x${'1'.repeat(41)}`,
      `00x${'1'.repeat(40)}`,
      `0x${'g'.repeat(40)}`,
      '',
    ]) {
      expect(() => joinMarket(row, { ...testAddresses, [name]: address }), address).to.throw(
        MarketFileError,
        `the market ${String(spot.market)} needs the address ${name}, which the deployment file lacks`,
      )
    }
  })
})
