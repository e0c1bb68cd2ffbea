import { moneyOfTheClass } from './stage/ccxt/money.js'
import { ordersOfTheClass } from './stage/ccxt/orders.js'
import { writeRecording } from './stage/ccxt/recording.js'
import { rulesOfCcxt } from './stage/ccxt/rules.js'
import { streamsOfTheClass } from './stage/ccxt/streams.js'
import { casesOfCcxt } from './stage/ccxt/upstream-cases.js'
import { openCcxtWorld, type CcxtWorld } from './stage/ccxt/world.js'

/** On one venue, which trades a market of each kind. */
describe('the CCXT class on the running venue', function () {
  let world: CcxtWorld
  before(async () => {
    world = await openCcxtWorld()
    if (process.env.WRITE_CCXT === '1') await writeRecording(world)
  })
  after(() => world?.stop())

  const get = () => world
  describe('orders', () => ordersOfTheClass(get))
  describe('money', () => moneyOfTheClass(get))
  describe('rules', () => rulesOfCcxt(get))
  describe('streams', () => streamsOfTheClass(get))
  describe('test files of CCXT', () => casesOfCcxt(get))
})
