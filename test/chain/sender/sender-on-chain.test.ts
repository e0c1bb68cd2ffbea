import { expect } from 'chai'
import { createChainClient } from '../../../chain/reads/client.js'
import type { SenderPolicy } from '../../../chain/sender/follow-transaction.js'
import { findConsumer } from '../../../chain/sender/investigate.js'
import type { TransactionSenderOptions } from '../../../chain/sender/transaction-sender.js'
import { createTransactionSigner, requestOf } from '../../../chain/signing/keys.js'
import type { Hex } from '../../../core/action.js'
import { ANVIL_CHAIN_ID, startAnvil, type Anvil } from '../../support/anvil.js'
import { eventually } from '../../support/eventually.js'
import { startRpcProxy } from '../../support/rpc-proxy.js'
import { aFundedKey, openSenderOnChain, type SenderOnChain } from '../../support/sender-world.js'

const SEND = 'eth_sendRawTransaction'

describe('a sender on a node', () => {
  let anvil: Anvil
  let key: Hex
  let txSender: SenderOnChain

  before(async () => {
    anvil = await startAnvil()
  })
  beforeEach(async () => {
    await anvil.client.setAutomine(false)
    key = await aFundedKey(anvil)
  })
  afterEach(async () => {
    await txSender.stop()
    txSender.journal.close()
    await rpc('anvil_dropAllTransactions')
  })
  after(() => anvil.stop())

  async function open(
    policy: Partial<SenderPolicy> = {},
    options: Partial<TransactionSenderOptions> = {},
  ) {
    txSender = await openSenderOnChain(anvil.rpcUrl, key, { policy, ...options })
    return txSender
  }
  const rpc = (method: string, ...params: unknown[]) =>
    anvil.client.request({ method, params } as never)
  const mine = (blocks = 1) => anvil.client.mine({ blocks })
  const told = (fact: string) => txSender.told.filter((name) => name === fact).length
  const stateOf = (intentId: string) => txSender.journal.find(intentId)?.state
  const isMined = (intentId: string) => stateOf(intentId)?.kind === 'mined'
  const pooled = async () => (await anvil.client.getTxpoolStatus()).pending
  const receiptOf = (hash: Hex) =>
    anvil.client.getTransactionReceipt({ hash }).catch(() => undefined)
  const foreignAt = (evmNonce: number) => {
    const signer = createTransactionSigner(key, ANVIL_CHAIN_ID)
    const fees = { gasLimit: 21_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 10n }
    const { raw } = signer.sign({ to: signer.address, data: '0x', evmNonce, ...fees })
    return anvil.client.sendRawTransaction({ serializedTransaction: raw })
  }

  it('has many transactions in one block, each with its own intents', async () => {
    await open()
    await Promise.all([txSender.send('a', 'b'), txSender.send('c'), txSender.send('d')])
    await eventually(async () => (await pooled()) === 3)
    await mine()
    await eventually(() => ['a', 'b', 'c', 'd'].every(isMined))
    expect(txSender.openCount()).to.equal(0)
  })

  it('replaces what blocks pass over with higher fees at the same nonce', async () => {
    await open({ stuckMs: 50 })
    const { evmNonce } = await txSender.send('a')
    await eventually(async () => (await pooled()) === 1)
    const first = stateOf('a')
    await eventually(async () => {
      await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 11n })
      await mine()
      return told('replaced') > 0
    })
    await eventually(async () => {
      await mine()
      return isMined('a')
    })
    const state = stateOf('a')
    if (state?.kind !== 'mined' || first?.kind !== 'open') throw new Error('not mined')
    const { hash } = state.transaction
    expect(hash).to.not.equal(first.transaction.attempts[0]?.hash)
    const { nonce, maxFeePerGas = 0n } = await anvil.client.getTransaction({ hash })
    expect(nonce).to.equal(evmNonce)
    const before = first.transaction.attempts[0]?.maxFeePerGas ?? 0n
    expect(maxFeePerGas * 8n >= before * 9n).to.equal(true)
  })

  it('sends again what the node dropped', async () => {
    await open({ rebroadcastMs: 50 })
    const { attempts } = await txSender.send('a')
    const hash = attempts[0]?.hash ?? '0x'
    await eventually(async () => (await pooled()) === 1)
    await rpc('anvil_dropTransaction', hash)
    await eventually(async () => (await pooled()) === 1)
    await mine()
    await eventually(() => isMined('a'))
    expect(await receiptOf(hash)).to.not.equal(undefined)
  })

  for (const depth of [1, 12]) {
    it(`has what a reorganisation of ${depth} blocks took mined again, as the same bytes (SET-013)`, async () => {
      await open()
      const hashes = [await txSender.send('a'), await txSender.send('b')].map(
        (it) => it.attempts[0]?.hash,
      )
      await eventually(async () => (await pooled()) === 2)
      await mine()
      await eventually(() => isMined('a') && isMined('b'))
      await mine(depth - 1)
      await rpc('anvil_reorg', depth, [])
      await eventually(() => told('reopened') > 0)
      await eventually(async () => (await pooled()) === 2)
      await mine()
      await eventually(() => isMined('a') && isMined('b'))
      const states = ['a', 'b'].map(stateOf)
      const mined = states.map((it) => (it?.kind === 'mined' ? it.transaction : undefined))
      expect(mined.map((it) => it?.hash)).to.deep.equal(hashes)
      const receipt = await receiptOf(hashes[0] ?? '0x')
      expect(mined[0]?.blockHash).to.equal(receipt?.blockHash)
      expect(txSender.journal.reversalsAfter(0, 9)).to.deep.equal([])
    })
  }

  it('finds a transaction that a reorganisation put into another block, the count being the same', async () => {
    await open()
    const { attempts } = await txSender.send('a')
    await eventually(async () => (await pooled()) === 1)
    await mine()
    await eventually(() => isMined('a'))
    const before = await receiptOf(attempts[0]?.hash ?? '0x')
    await rpc('anvil_reorg', 1, [[attempts[0]?.raw, 0]])
    const after = await receiptOf(attempts[0]?.hash ?? '0x')
    expect(after?.blockHash).to.not.equal(before?.blockHash)
    await eventually(() => {
      const state = stateOf('a')
      return state?.kind === 'mined' && state.transaction.blockHash === after?.blockHash
    })
  })

  it('records that a success turned into a revert', async () => {
    const contract = `0x${'c0'.repeat(20)}` as const
    await open()
    await txSender.send('first')
    await eventually(async () => (await pooled()) === 1)
    await mine()
    await eventually(() => isMined('first'))
    const { maxFeePerGas, maxPriorityFeePerGas } = await txSender.readGas()
    const fees = { gasLimit: 100_000n, maxFeePerGas, maxPriorityFeePerGas }
    const intents = [{ intentId: 'a', fingerprint: `0x${'f1'.repeat(32)}` as const }]
    const { attempts } = txSender.take({ intents, to: contract, data: '0x', fees })
    await eventually(async () => (await pooled()) === 1)
    await mine()
    await eventually(() => isMined('a'))
    await rpc('anvil_reorg', 1, [])
    // From now on whatever calls it reverts: PUSH0 PUSH0 REVERT.
    await rpc('anvil_setCode', contract, '0x5f5ffd')
    await eventually(async () => (await pooled()) === 1)
    await mine()
    await eventually(() => txSender.journal.reversalsAfter(0, 9).length === 1)
    const [reversal] = txSender.journal.reversalsAfter(0, 9)
    expect(reversal).to.deep.nested.include({
      intentId: 'a',
      'before.status': 'success',
      'now.status': 'reverted',
      'now.hash': attempts[0]?.hash,
    })
    expect(stateOf('a')).to.deep.nested.include({ 'transaction.status': 'reverted' })
  })

  it('closes a gap by the bytes that never arrived', async () => {
    const proxy = await startRpcProxy(anvil.rpcUrl)
    txSender = await openSenderOnChain(proxy.rpcUrl, key, { policy: { rebroadcastMs: 50 } })
    proxy.fateOf = (method) => (method === SEND ? 'lose' : 'pass')
    await txSender.send('a')
    await eventually(() => told('broadcastUnclear') > 0)
    await txSender.send('b')
    proxy.fateOf = () => 'pass'
    await eventually(async () => (await pooled()) === 2)
    await mine()
    await eventually(() => isMined('a') && isMined('b'))
    await txSender.stop()
    await proxy.stop()
  })

  it('fills a nonce that its journal lost', async () => {
    await open()
    const { journal } = txSender
    await txSender.send('a')
    await txSender.send('b')
    await eventually(async () => (await pooled()) === 2)
    await txSender.stop()
    await rpc('anvil_dropAllTransactions')
    journal.lose(0)
    await open({}, { journal })
    await eventually(async () => (await pooled()) === 2)
    expect(told('gapFilled')).to.equal(1)
    await mine()
    await eventually(() => isMined('b'))
    const [filler] = journal.unsettledTransactions(txSender.address)
    expect(requestOf(filler?.transaction.attempts[0]?.raw ?? '0x')).to.include({
      to: txSender.address,
    })
  })

  it('freezes when a foreign transaction uses the key, and frees what that displaced when it is final', async () => {
    const proxy = await startRpcProxy(anvil.rpcUrl)
    txSender = await openSenderOnChain(proxy.rpcUrl, key)
    proxy.fateOf = (method) => (method === SEND ? 'lose' : 'pass')
    await txSender.send('a')
    const by = await foreignAt(0)
    await mine()
    await eventually(() => txSender.frozen() !== undefined)
    expect(txSender.frozen()).to.deep.nested.include({ evmNonce: 0, 'by.hash': by })
    const gas = await txSender.readGas()
    expect(txSender.shortage(gas, 0n)?.kind).to.equal('frozen')
    expect(stateOf('a')?.kind).to.equal('open')
    await mine(12)
    await eventually(() => stateOf('a')?.kind === 'displaced')
    const { journal } = txSender
    await txSender.stop()
    await proxy.stop()
    await open({}, { journal })
    expect((await txSender.send('a')).evmNonce).to.equal(1)
    await eventually(async () => (await pooled()) === 1)
    await mine()
    await eventually(() => isMined('a'))
  })

  it('finds what used a nonce many blocks ago', async () => {
    await open()
    const hashes = [await foreignAt(0), await foreignAt(1)]
    await mine(100)
    const head = await anvil.client.getBlockNumber()
    const client = createChainClient(anvil.rpcUrl, 'read')
    const find = (evmNonce: number) =>
      findConsumer(client, { from: txSender.address, evmNonce, head })
    const found = [await find(0), await find(1)]
    expect(found.map((it) => it?.by.hash)).to.deep.equal(hashes)
    const { blockHash } = await anvil.client.getTransactionReceipt({ hash: hashes[0] ?? '0x' })
    expect(found[0]?.by.blockHash).to.equal(blockHash)
    expect(await find(2)).to.equal(undefined)
  })

  it('freezes when nonces are used that it never gave away', async () => {
    await open()
    await foreignAt(0)
    await mine()
    await eventually(() => txSender.frozen() !== undefined)
    expect(txSender.frozen()?.evmNonce).to.equal(0)
  })

  it('takes nothing that would touch its reserve of gas money, and says so', async () => {
    const reserve = { transactions: 10n, gasEach: 1_000_000n }
    await open({}, { reserve })
    const gas = await txSender.readGas()
    const cost = 50_000n * gas.maxFeePerGas
    const needed = 10n * 1_000_000n * gas.maxFeePerGas + cost
    expect(txSender.shortage({ ...gas, balance: needed }, cost)).to.equal(undefined)
    expect(txSender.shortage({ ...gas, balance: needed - 1n }, cost)?.kind).to.equal('gas_money')
    await anvil.client.setBalance({ address: txSender.address, value: 1n })
    await eventually(async () => {
      await mine()
      return told('gasLow') === 1
    })
    await anvil.client.setBalance({ address: txSender.address, value: 10n ** 20n })
    await eventually(async () => {
      await mine()
      return told('gasBack') === 1
    })
  })
})
