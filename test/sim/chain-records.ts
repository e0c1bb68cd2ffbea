import type { Hex } from '../../core/action.js'
import { matchTriedLog } from './batch-contract.js'
import { CHAIN_ID } from './chain-state.js'
import type { ChainBlock, PooledTransaction, SimulatedChain } from './chain.js'
import { DELEGATES_TO } from './delegates.js'

/** Blocks, receipts, transactions and traces as a node answers them. */

export const hex = (value: number | bigint): Hex => `0x${value.toString(16)}`

const NO_BLOOM: Hex = `0x${'0'.repeat(512)}`

export function blockRecord(block: ChainBlock) {
  return {
    number: hex(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: hex(block.timestampSec),
    baseFeePerGas: hex(block.baseFee),
    gasLimit: hex(60_000_000),
    gasUsed: hex(BigInt(block.receipts.length) * block.matchGas),
    difficulty: '0x0',
    totalDifficulty: '0x0',
    size: '0x0',
    nonce: '0x0000000000000000',
    transactions: block.receipts.map(({ transaction }) => transaction.hash),
  }
}

export function receiptRecord(chain: SimulatedChain, hash: Hex) {
  const found = chain.find(hash)
  if (found === undefined) return null
  const { block, receipt, index } = found
  const { from, to } = receipt.transaction
  return {
    transactionHash: hash,
    transactionIndex: hex(index),
    from,
    to,
    contractAddress: null,
    blockHash: block.hash,
    blockNumber: hex(block.number),
    logsBloom: NO_BLOOM,
    logs: (receipt.tried ?? []).map(matchTriedLog).map((log, logIndex) => ({
      ...log,
      blockHash: block.hash,
      blockNumber: hex(block.number),
      transactionHash: hash,
      transactionIndex: hex(index),
      logIndex: hex(logIndex),
      removed: false,
    })),
    status: receipt.revert === undefined ? '0x1' : '0x0',
    type: '0x2',
    gasUsed: hex(block.matchGas),
    cumulativeGasUsed: hex(block.matchGas * BigInt(index + 1)),
    effectiveGasPrice: hex(block.baseFee),
  }
}

export function transactionRecord(chain: SimulatedChain, hash: Hex) {
  const found = chain.find(hash)
  const transaction = found?.receipt.transaction ?? chain.pooled(hash)
  if (transaction === undefined) return null
  return {
    ...wireFields(transaction),
    blockHash: found?.block.hash ?? null,
    blockNumber: found === undefined ? null : hex(found.block.number),
    transactionIndex: found === undefined ? null : hex(found.index),
  }
}

function wireFields(transaction: PooledTransaction) {
  const { hash, from, to, data, nonce, gas, maxFeePerGas, maxPriorityFeePerGas } = transaction
  const { authorizations } = transaction
  return {
    hash,
    from,
    to,
    input: data,
    nonce: hex(nonce),
    gas: hex(gas),
    value: '0x0',
    type: authorizations === undefined ? '0x2' : '0x4',
    ...(authorizations !== undefined && {
      authorizationList: authorizations.map(
        ({ address, chainId, nonce: ofKey, r, s, yParity }) => ({
          address,
          chainId: hex(chainId),
          nonce: hex(ofKey),
          r,
          s,
          yParity: hex(yParity),
        }),
      ),
    }),
    maxFeePerGas: hex(maxFeePerGas),
    maxPriorityFeePerGas: hex(maxPriorityFeePerGas),
    chainId: hex(CHAIN_ID),
    accessList: [],
    r: '0x1',
    s: '0x1',
    v: '0x0',
    yParity: '0x0',
  }
}

/** The code of keys before a transaction, as a trace shows it. */
export function codeBefore({ block, receipt }: NonNullable<ReturnType<SimulatedChain['find']>>) {
  const { delegatesBefore } = receipt
  const keys = new Set([...delegatesBefore.keys(), ...block.state.delegates.keys()])
  for (const { authorizations } of block.delegations)
    authorizations.forEach(({ key }) => keys.add(key))
  return Object.fromEntries(
    Array.from(keys, (key) => {
      const delegate = delegatesBefore.get(key)
      return [key, delegate === undefined ? {} : { code: `${DELEGATES_TO}${delegate.slice(2)}` }]
    }),
  )
}
