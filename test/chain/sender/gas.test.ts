import { expect } from 'chai'
import { ChainUnreachable, type ChainClient } from '../../../chain/reads/client.js'
import { createGasReader, raiseFees, reserveWei, type GasFacts } from '../../../chain/sender/gas.js'
import { noAnswer } from '../../support/silent-node.js'

const SENDER_ADDRESS = `0x${'aa'.repeat(20)}` as const

/** A reader on a node that suggests this tip; `answers` may be emptied to make the node silent. */
function readerOf(tip: string, baseFeePerGas: bigint | null = 100n) {
  const node = { asked: [] as unknown[], isSilent: false }
  const answer = <T>(question: unknown, value: T): Promise<T> => {
    node.asked.push(question)
    return node.isSilent ? Promise.reject(noAnswer()) : Promise.resolve(value)
  }
  const client = {
    getBlock: (question: unknown) => answer(question, { baseFeePerGas, gasLimit: 5n }),
    request: (question: unknown) => answer(question, tip),
    getBalance: (question: unknown) => answer(question, 77n),
  }
  return { node, read: createGasReader(client as unknown as ChainClient, SENDER_ADDRESS) }
}

describe('the fees that a sender bids', () => {
  it('leave room for a base fee that rises fourfold, and tip what the node suggests', async () => {
    const { node, read } = readerOf('0x9')
    expect(await read()).to.deep.equal({
      maxFeePerGas: 409n,
      maxPriorityFeePerGas: 9n,
      baseFeePerGas: 100n,
      blockGasLimit: 5n,
      balance: 77n,
    })
    expect(node.asked).to.deep.equal([
      { blockTag: 'latest' },
      { method: 'eth_maxPriorityFeePerGas' },
      { address: SENDER_ADDRESS },
    ])
  })

  it('tip at least a wei, and take a missing base fee for zero', async () => {
    const facts = await readerOf('0x0', null).read()
    expect(facts).to.include({ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, baseFeePerGas: 0n })
    expect(await readerOf('0x2', null).read()).to.include({ maxFeePerGas: 2n })
  })

  it('are read once for callers of the same block, and again after a failure', async () => {
    const { node, read } = readerOf('0x9')
    node.isSilent = true
    const failures = await Promise.all(
      [read(), read()].map((reading) => reading.catch((error: unknown) => error)),
    )
    for (const failure of failures) expect(failure).to.be.instanceOf(ChainUnreachable)
    expect(node.asked).to.have.length(3)
    node.isSilent = false
    expect(await read()).to.equal(await read())
    expect(node.asked).to.have.length(6)
  })
})

describe('the balance that a key keeps', () => {
  const facts = { maxFeePerGas: 7n } as GasFacts

  it('is an amount, or the cost of transactions at the fees of the moment', () => {
    expect(reserveWei({ wei: 5n }, facts)).to.equal(5n)
    expect(reserveWei({ transactions: 3n, gasEach: 11n }, facts)).to.equal(231n)
  })
})

describe('the limit of a raised fee', () => {
  it('is the multiple itself', () => {
    const at = { maxFeePerGas: 16n, maxPriorityFeePerGas: 8n }
    expect(raiseFees(at, { maxFeePerGas: 9n, maxPriorityFeePerGas: 9n }, 2n)).to.deep.equal({
      maxFeePerGas: 18n,
      maxPriorityFeePerGas: 9n,
    })
    expect(raiseFees(at, { maxFeePerGas: 8n, maxPriorityFeePerGas: 8n }, 2n)).to.equal(undefined)
  })
})
