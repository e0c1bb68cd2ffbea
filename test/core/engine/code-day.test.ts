import { expect } from 'chai'
import type { Change } from '../../../core/model/change.js'
import type { OrderFields } from '../../support/matching.js'
import { codeMarket, GAS, type Trader } from './code-market.js'

const plain = (no: number): Trader => ({ signer: no, owner: no })
/** A contract that signs for itself, and a key that delegates, which signs for its owner. */
const WALLETS: readonly (readonly [string, Trader])[] = [
  ['a contract wallet', { signer: 1, owner: 1, byCode: true }],
  ['a delegated session key', { signer: 11, owner: 1, byCode: true }],
]
const MINUTES = 24 * 60
const IOC: Partial<OrderFields> = { timeInForce: 'IOC' }

describe('an honest signer that is code through a day', () => {
  for (const [name, wallet] of WALLETS) {
    it(`as ${name}, quotes both sides and takes, and waits no more after its first fills`, () => {
      const market = codeMarket()
      const { place, tick, pending, settle, fail } = market
      const waits: number[] = []
      let minute = 0
      const watch = (changes: readonly Change[]): void => {
        if (changes.some((each) => 'hold' in each && each.hold === 'signer_waits'))
          waits.push(minute)
      }
      for (; minute < MINUTES; minute += 1) {
        // What gas costs moves through the day by a factor of four, and its fees stay above it.
        const cost = (GAS * BigInt(100 + ((minute * 7) % 300))) / 100n
        for (const price of [1.01, 1.02]) watch(place(wallet, 'sell', { price, size: 2 }).changes)
        watch(place(wallet, 'buy', { price: 0.99, size: 2 }).changes)
        for (const size of [2, 2]) {
          watch(place(plain(20 + (minute % 5)), 'buy', { price: 1.02, size, fields: IOC }).changes)
        }
        watch(place(plain(30), 'sell', { price: 0.99, size: 2, fields: IOC }).changes)
        place(plain(40), 'sell', { size: 2 })
        watch(place(wallet, 'buy', { size: 2, fields: IOC }).changes)
        // Now and then the other side cannot pay, which says nothing of the wallet.
        const [first] = pending()
        if (minute % 50 === 49 && first !== undefined) {
          fail(first, { revert: 'WERC_CannotBeNegative', guilty: 'taker', isMined: false })
        }
        for (const id of pending()) watch(settle(id, cost as typeof GAS))
        watch(tick(60))
      }
      expect(waits, 'it began with one match in flight').to.include(0)
      expect(Math.max(...waits), 'the last minute in which it waited').to.be.below(5)
      expect(market.windowOf(wallet).size).to.be.at.least(10)
    })
  }
})
