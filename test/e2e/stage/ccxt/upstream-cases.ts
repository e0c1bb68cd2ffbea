import { expect } from 'chai'
import { exchangeOf, deal, type CcxtWorld } from './world.js'
import { upstreamCases, type UpstreamCase } from './upstream.js'

/** As many as the class passed or failed when it was first tried on them. */
const LEAST_CASES = 61

const NO_LEVERAGE = 'A spot market has no leverage.'
const CHECKED_BEFORE =
  'CCXT itself throws ArgumentsRequired for an amount of 0 today, before the class or the venue sees the order.'

/** Cases that fail, each with its reason. */
const FAILING: Readonly<Record<string, string>> = {
  fetchFundingRateHistory: 'It names no symbol, which CCXT lets a class demand.',
  'fetchLeverageTiers spot': NO_LEVERAGE,
  'fetchMarketLeverageTiers spot': NO_LEVERAGE,
  'InvalidOrder spot': CHECKED_BEFORE,
  'InvalidOrder swap': CHECKED_BEFORE,
  'InvalidOrder future': CHECKED_BEFORE,
}

export function casesOfCcxt(get: () => CcxtWorld): void {
  it('pass on the venue, but for a list with a reason each', async () => {
    const world = get()
    const { taker, desks } = world
    for (const desk of desks) {
      await deal(world, desk)
      await taker.createOrder(desk.symbol, 'limit', 'buy', desk.amount, desk.low)
    }
    const tested = exchangeOf(world.venue, 1)
    // The account of margin, of which orders reserve no token: the files add free and used as floats.
    tested.options.defaultType = 'swap'
    const cases = upstreamCases(tested, desks)
    expect(cases).to.have.length.at.least(LEAST_CASES)
    const failures = new Map<string, string>()
    const runAll = (wanted: readonly UpstreamCase[]) =>
      Promise.all(
        wanted.map(({ name, run }) =>
          run(tested).catch((error: Error) => failures.set(name, `${name}: ${error.stack}`)),
        ),
      )
    await runAll(cases.filter(({ isStream }) => !isStream))

    // A stream's file ends with the first news after ten seconds.
    let isOver = false
    const traffic = desks.map(async (desk) => {
      while (!isOver) {
        await deal(world, desk, 'sell')
        await deal(world, desk)
      }
      await deal(world, desk, 'sell')
      await taker.cancelAllOrders(desk.symbol)
    })
    await runAll(cases.filter(({ isStream }) => isStream))
    isOver = true
    await Promise.all(traffic)
    await tested.close()
    const unexpected = [...failures].filter(([name]) => FAILING[name] === undefined)
    expect([...failures.keys()], unexpected.map(([, why]) => why).join('\n')).to.have.members(
      Object.keys(FAILING),
    )
  })
}
