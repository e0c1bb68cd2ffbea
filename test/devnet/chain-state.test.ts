import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { developmentAccounts } from '../../devnet/chain/accounts.js'
import { callChain, startAnvil } from '../../devnet/chain/anvil.js'
import {
  dumpBetweenBlocks,
  keepChainState,
  saveChainState,
  withoutTraces,
} from '../../devnet/chain/chain-state.js'
import { findAnvil } from '../../devnet/launcher/binaries.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'

const [alice, bob] = developmentAccounts()
const ONE_ETHER = 10n ** 18n

describe('devnet/chain-state', () => {
  let dir = ''
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'venue-chain-'))
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))

  const start = async (port: number, stateFile?: string) =>
    startAnvil({ binary: findAnvil(), port, chainId: base.id, blockTimeS: 1, cwd: dir, stateFile })

  async function pay(rpcUrl: string) {
    if (alice === undefined || bob === undefined) throw new Error('no accounts')
    await callChain(rpcUrl, 'anvil_setBalance', [
      alice.address,
      `0x${(ONE_ETHER * 9n).toString(16)}`,
    ])
    const account = privateKeyToAccount(alice.privateKey)
    const wallet = createWalletClient({ account, chain: base, transport: http(rpcUrl) })
    const hash = await wallet.sendTransaction({ to: bob.address, value: ONE_ETHER })
    await eventually(async () => (await receipt(rpcUrl, hash)) !== undefined)
    return { hash, to: bob.address }
  }

  async function receipt(rpcUrl: string, hash: string): Promise<unknown> {
    return (await callChain(rpcUrl, 'eth_getTransactionReceipt', [hash])) ?? undefined
  }

  it('brings balances, blocks and receipts back after SIGKILL', async () => {
    const port = await freePort()
    const file = join(dir, 'state.json')
    const first = await start(port)
    const { hash, to } = await pay(first.rpcUrl)
    const before = await receipt(first.rpcUrl, hash)
    await saveChainState(first.rpcUrl, file)
    const height = BigInt((await callChain(first.rpcUrl, 'eth_blockNumber')) as string)
    first.child.signal('SIGKILL')
    await first.child.exited

    const second = await start(port, file)
    try {
      expect(await callChain(second.rpcUrl, 'eth_getBalance', [to, 'latest'])).to.equal(
        `0x${ONE_ETHER.toString(16)}`,
      )
      expect(await receipt(second.rpcUrl, hash)).to.deep.equal(before)
      const block = BigInt((await callChain(second.rpcUrl, 'eth_blockNumber')) as string)
      expect(block >= height - 1n).to.equal(true)
      await eventually(
        async () => BigInt((await callChain(second.rpcUrl, 'eth_blockNumber')) as string) > block,
      )
    } finally {
      await second.child.stop(1_000)
    }
  })

  /** A state of one account that sent so many transactions, and the record of so many. */
  const stateOf = (sent: number, recorded: number) => {
    const transactions = Array.from({ length: recorded }, (_, index) => ({
      info: { transaction_hash: `0x${index}` },
    }))
    const accounts = { '0xa': { nonce: sent, code: '0x' }, '0xb': { nonce: 1, code: '0x6000' } }
    return Buffer.from(JSON.stringify({ accounts, best_block_number: 1, blocks: [], transactions }))
  }
  const dumpsOf = (...states: Buffer[]) =>
    dumpBetweenBlocks(() => Promise.resolve(states.shift() ?? expect.fail('no more dumps')))

  it('leaves out how the transactions went that went through', () => {
    const traced = (exit: string) => ({
      info: { transaction_hash: '0x1', traces: [{ logs: [['a ] "quoted\\"'], []] }], exit },
      receipt: { logs: [1] },
    })
    const state = { transactions: ['Return', 'Revert', 'Stop'].map(traced) }
    const stripped = withoutTraces(Buffer.from(JSON.stringify(state)))
    for (const { info } of state.transactions) if (info.exit !== 'Revert') info.traces = []
    expect(JSON.parse(stripped.toString())).to.deep.equal(state)
    const untraced = Buffer.from('{"blocks":[]}')
    expect(withoutTraces(untraced).equals(untraced)).to.equal(true)
  })

  it('passes over a state that was dumped in the middle of a block', async () => {
    expect(await dumpsOf(stateOf(3, 3))).to.deep.equal(stateOf(3, 3))
    expect(await dumpsOf(stateOf(9, 4), stateOf(10, 9), stateOf(10, 10))).to.deep.equal(
      stateOf(10, 10),
    )
    const torn = [1, 2, 3, 4, 5].map((more) => stateOf(10 + more, 10))
    expect(await dumpsOf(...torn).catch(String)).to.include('in the middle of a block 5 times')
  })

  it('takes nonces that were set by hand as they are', async () => {
    expect(await dumpsOf(...Array.from({ length: 5 }, () => stateOf(7, 3)))).to.deep.equal(
      stateOf(7, 3),
    )
  })

  it('counts as the chain itself does', async () => {
    const port = await freePort()
    const file = join(dir, 'state.json')
    const chain = await start(port)
    try {
      for (let i = 0; i < 3; i += 1) await pay(chain.rpcUrl)
      await saveChainState(chain.rpcUrl, file)
      const state = await readFile(file)
      let dumps = 0
      await dumpBetweenBlocks(() => {
        dumps += 1
        return Promise.resolve(state)
      })
      expect(dumps, 'dumps of a state between two blocks').to.equal(1)
    } finally {
      await chain.child.stop(1_000)
    }
  })

  it('saves in a rhythm, survives a dead chain, and saves a last time', async () => {
    const port = await freePort()
    const file = join(dir, 'state.json')
    const failures: string[] = []
    const chain = await start(port)
    const keeper = keepChainState({
      rpcUrl: chain.rpcUrl,
      file,
      saveEveryMs: 20,
      onFailure: (error) => failures.push(error.message),
      onBroken: (error) => failures.push(String(error)),
    })
    chain.child.signal('SIGSTOP')
    chain.child.signal('SIGKILL')
    await chain.child.exited
    await eventually(() => failures.length > 0)
    expect(failures[0]).to.match(/eth_getBlockByNumber: no answer/)

    const again = await start(port)
    const { hash } = await pay(again.rpcUrl)
    await keeper.finish()
    await again.child.stop(1_000)
    const third = await start(port, file)
    expect(await receipt(third.rpcUrl, hash)).to.not.equal(undefined)
    await third.child.stop(1_000)
  })
})
