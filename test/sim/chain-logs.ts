import { encodeEventTopics } from 'viem'
import { subAccountsAbi, tradeModuleAbi } from '../../chain/abi/contracts.js'
import { bytesToHex, keccakText } from '../../chain/signing/keys.js'
import type { Hex } from '../../core/action.js'
import { matchesOf, type ChainBlock, type SimulatedChain } from './chain.js'
import { AT, readMatch } from './contracts.js'

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
const [BALANCE_ADJUSTED] = encodeEventTopics({ abi: subAccountsAbi, eventName: 'BalanceAdjusted' })
const [ORDER_MATCHED] = encodeEventTopics({ abi: tradeModuleAbi, eventName: 'OrderMatched' })

/** The events of these blocks as far as the venue reads them: who traded, and whose balances changed. */
export function logsOf(chain: SimulatedChain, first: number, last: number) {
  const logs = []
  for (let number = Math.max(1, first); number <= last; number++) {
    const block = chain.block(number)
    const parent = chain.block(number - 1)
    if (block !== undefined && parent !== undefined) logs.push(...logsOfBlock(block, parent))
  }
  return logs
}

function logsOfBlock(block: ChainBlock, parent: ChainBlock) {
  const place = { blockHash: block.hash, blockNumber: `0x${block.number.toString(16)}`, data: '0x' }
  const log = (address: Hex, transactionHash: Hex, topics: readonly (Hex | undefined)[]) => ({
    ...{ ...place, address, transactionHash, topics, transactionIndex: '0x0', logIndex: '0x0' },
    removed: false,
  })
  const adjusted = (hash: Hex, account: bigint, asset: Hex) =>
    log(AT.subAccounts, hash, [
      BALANCE_ADJUSTED,
      ...[word(account), word(BigInt(AT.manager)), `${asset}${'0'.repeat(24)}` as Hex],
    ])
  const matched = block.receipts.flatMap((receipt) => {
    const { hash } = receipt.transaction
    return matchesOf(receipt).flatMap((match) => {
      const accounts = readMatch(match).actions.map(({ subaccountId }) => subaccountId)
      const moved = accounts.flatMap((account) =>
        [AT.base, AT.quote].map((asset) => adjusted(hash, account, asset)),
      )
      return [log(AT.tradeModule, hash, [ORDER_MATCHED]), ...moved]
    })
  })
  if (block.happenings.length === 0) return matched
  const others = bytesToHex(keccakText(`others ${block.hash}`))
  const changed = [...block.state.balances].filter(
    ([key, amount]) => parent.state.balances.get(key) !== amount,
  )
  const moved = changed.map(([key]) => {
    const [account = '', asset = ''] = key.split(' ')
    return adjusted(others, BigInt(account), asset as Hex)
  })
  return [...matched, ...moved]
}
