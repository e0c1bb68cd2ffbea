import type { Moves, AccountTrade } from './contract.js'
import { notionalFloor } from './fees.js'

/** Moves of trades whose engine price is USDC per cNGN: a buy gains cNGN and gives USDC, each trade rounded down. */
export function movesOfBase(trades: readonly AccountTrade[]): Moves {
  return sum(trades, ({ price, amount }) => ({
    cngn: amount,
    usdc: -BigInt(notionalFloor(price, amount)),
  }))
}

/** Moves of trades whose engine price is cNGN per USDC: a buy opens USDC against cNGN, each trade rounded down. */
export function movesOfUsdc(trades: readonly AccountTrade[]): Moves {
  return sum(trades, ({ price, amount }) => ({
    usdc: amount,
    cngn: -BigInt(notionalFloor(price, amount)),
  }))
}

function sum(trades: readonly AccountTrade[], ofBuy: (trade: AccountTrade) => Moves): Moves {
  let [usdc, cngn] = [0n, 0n]
  for (const trade of trades) {
    const sign = trade.side === 'buy' ? 1n : -1n
    const moved = ofBuy(trade)
    usdc += sign * moved.usdc
    cngn += sign * moved.cngn
  }
  return { usdc, cngn }
}
