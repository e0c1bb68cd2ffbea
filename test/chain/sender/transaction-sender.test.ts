import { expect } from 'chai'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import {
  JournalIncomplete,
  SenderFrozen,
  openTransactionSender,
  type TransactionSenderOptions,
  type TransactionSender,
} from '../../../chain/sender/transaction-sender.js'
import { createTransactionSigner, requestOf } from '../../../chain/signing/keys.js'
import type { Hex } from '../../../core/action.js'
import { armCrashPoints } from '../../../core/crash-point.js'
import type { OpenTransaction } from '../../../core/transaction-journal.js'
import { eventually } from '../../support/eventually.js'
import { openMemoryJournal, type MemoryJournal } from '../../support/memory-journal.js'
import { factsTo } from '../../support/sender-facts.js'
import { startNode, type AnsweringNode, type Question } from './answering-node.js'
import { createScriptedChain, SCRIPTED_GAS, type ScriptedChain } from './scripted-chain.js'

const signer = createTransactionSigner(`0x${'07'.padStart(64, '0')}`, 8453)
const hexOf = (n: bigint | number): Hex => `0x${n.toString(16)}`

/** The answers of a node on the scripted chain. */
function answersOf(scripted: ScriptedChain, journal: MemoryJournal) {
  const { chain } = scripted

  function transactionOf(raw: Hex): OpenTransaction {
    const open = journal.unsettledTransactions(signer.address).map((it) => it.transaction)
    const found = open.find(({ evmNonce }) => evmNonce === requestOf(raw).evmNonce)
    if (found === undefined) throw new Error('sent before it was journaled')
    return found
  }

  async function blockAt(tag: unknown) {
    const head = await chain.head()
    const number = tag === 'latest' ? head.number : BigInt(String(tag))
    const hash = await chain.blockHash(number)
    if (hash === undefined) return null
    const inBlock: object[] = []
    for (const { hash: sent, evmNonce } of scripted.canonical()) {
      const consumer = await chain.consumerOf(evmNonce, number)
      if (consumer?.by.blockNumber !== number) continue
      const { to, data: input } = consumer.call
      const fields = { type: '0x2', value: '0x0', gas: '0x1', chainId: '0x1', to, input }
      inBlock.push({ ...fields, from: signer.address, nonce: hexOf(evmNonce), hash: sent })
    }
    const baseFeePerGas = hexOf(scripted.gas.baseFeePerGas)
    const gasLimit = hexOf(scripted.gas.blockGasLimit)
    const place = { number: hexOf(number), hash, parentHash: hash, timestamp: '0x1' }
    return { ...place, baseFeePerGas, gasLimit, transactions: inBlock }
  }

  async function countAt(at: unknown) {
    if (at === 'latest') return hexOf(scripted.count())
    const hash = typeof at === 'string' ? await chain.blockHash(BigInt(at)) : hashIn(at)
    return hexOf(await chain.countAt(hash ?? '0x'))
  }

  async function receiptOf(hash: Hex) {
    const attempts = [{ hash, raw: '0x', gasLimit: 1n, maxFeePerGas: 1n }] as const
    const asked = { from: signer.address, evmNonce: 0, intentIds: [], attempts }
    const receipt = await chain.receipt(asked)
    if (receipt === undefined) return null
    const status = receipt.status === 'success' ? '0x1' : '0x0'
    return { ...receipt, status, blockNumber: hexOf(receipt.blockNumber) }
  }

  return ({ method, params: [first, second] = [] }: Question): unknown => {
    if (scripted.lies().silent === true) return new Error('silent')
    if (method === 'eth_getBlockByNumber') return blockAt(first)
    if (method === 'eth_getTransactionCount') return countAt(second)
    if (method === 'eth_getTransactionReceipt') return receiptOf(first as Hex)
    if (method === 'eth_maxPriorityFeePerGas') return hexOf(scripted.gas.maxPriorityFeePerGas)
    if (method === 'eth_getBalance') return hexOf(scripted.gas.balance)
    if (method === 'eth_sendRawTransaction') return chain.send(transactionOf(first as Hex))
    return new Error(`unscripted: ${method}`)
  }
}

const hashIn = (at: unknown): Hex => (at as { blockHash: Hex }).blockHash

describe('the sender of a key', () => {
  let scripted: ScriptedChain
  let journal: MemoryJournal
  let node: AnsweringNode
  let txSender: TransactionSender | undefined
  let told: string[]
  /** The node no longer has the state of block 2. */
  let isPruned: boolean
  beforeEach(async () => {
    told = []
    scripted = createScriptedChain()
    journal = openMemoryJournal()
    isPruned = false
    const answering = answersOf(scripted, journal)
    node = await startNode((question) => {
      const isOld = question.method === 'eth_getTransactionCount' && question.params[1] === '0x2'
      return isPruned && isOld ? new Error('missing trie node') : answering(question)
    })
  })
  afterEach(async () => {
    armCrashPoints(undefined)
    await txSender?.stop()
    txSender = undefined
    await node.stop()
    journal.close()
  })

  async function open(options: Partial<TransactionSenderOptions> = {}): Promise<TransactionSender> {
    const { rpcUrl } = node
    const facts = { ...factsTo(told), ...options.facts }
    const onFatal = (error: unknown) => {
      throw error
    }
    const policy = { pollMs: 1, doubtEveryMs: 1, ...options.policy }
    txSender = await openTransactionSender({
      signer,
      journal,
      rpcUrl,
      onFatal,
      ...options,
      facts,
      policy,
    })
    return txSender
  }
  const fees = { gasLimit: 100_000n, maxFeePerGas: 4_010n, maxPriorityFeePerGas: 10n }
  const callFor = (...intentIds: string[]) => ({
    intents: intentIds.map((intentId) => ({
      intentId,
      fingerprint: `0x${'f1'.repeat(32)}` as const,
    })),
    to: signer.address,
    data: '0x01' as const,
    fees,
  })
  const failureOf = (failing: Promise<unknown>) => failing.catch((error: unknown) => error)

  it('goes on from what the chain has mined, and says so', async () => {
    scripted.mineForeign()
    scripted.mineForeign()
    let opened: unknown
    const facts = { ...factsTo(told), senderOpened: (of: unknown) => void (opened = of) }
    await open({ facts })
    expect(opened).to.deep.equal({ address: signer.address, minedNonces: 2, open: 0 })
    expect(txSender?.address).to.equal(signer.address)
    expect(txSender?.take(callFor('a')).evmNonce).to.equal(2)
  })

  it('opens on no more used nonces than its journal has, or than it was told to accept', async () => {
    scripted.mineForeign()
    scripted.mineForeign()
    const refused = await failureOf(open({ acceptNonces: 1 }))
    expect(refused).to.be.instanceOf(JournalIncomplete)
    expect(refused).to.have.property('message').that.includes('EXECUTOR_ACCEPT_NONCES=2')
    await open({ acceptNonces: 2 })
    txSender?.take(callFor('a'))
    await eventually(() => txSender?.wasTaken('a'))
    scripted.mine()
    await eventually(() => txSender?.openCount() === 0)
    await txSender?.stop()
    // The journal knows the third.
    await open({ acceptNonces: 0 })
    await txSender?.stop()
    scripted.mineForeign()
    scripted.mineForeign()
    const found = await open({ acceptNonces: 0 })
    expect([found.frozen()?.evmNonce, told.includes('frozen')]).to.deep.equal([4, true])
    expect(() => found.take(callFor('b'))).to.throw(
      SenderFrozen,
      './venue accept-foreign executor 0x',
    )
    await txSender?.stop()
    for (let n = 0; n < 15; n += 1) scripted.mineForeign()
    expect(await failureOf(open({ acceptNonces: 0 }))).to.be.instanceOf(JournalIncomplete)
  })

  const takeOne = async () => {
    await open({ acceptNonces: 0 })
    txSender?.take(callFor('a'))
    await eventually(() => txSender?.wasTaken('a'))
    scripted.mine()
    await eventually(() => txSender?.openCount() === 0)
    await txSender?.stop()
  }

  it('does not open where one of the used nonces that its journal lacks may be of its own', async () => {
    await takeOne()
    const own = { to: `0x${'e0'.repeat(20)}`, data: '0x' } as const
    scripted.mineForeign({ call: own })
    scripted.mineForeign()
    const mayBeOurs: TransactionSenderOptions['mayBeOurs'] = ({ to }) => to === own.to
    const refused = await failureOf(open({ acceptNonces: 0, mayBeOurs }))
    expect(refused).to.be.instanceOf(JournalIncomplete)
    const accepted = await open({ acceptNonces: 3, mayBeOurs })
    expect(accepted.take(callFor('b')).evmNonce).to.equal(3)
  })

  it('does not open where no node tells what used a nonce that its journal lacks', async () => {
    await takeOne()
    scripted.mineForeign()
    scripted.mineForeign()
    isPruned = true
    expect(await failureOf(open({ acceptNonces: 0 }))).to.be.instanceOf(JournalIncomplete)
    isPruned = false
    expect((await open({ acceptNonces: 0 })).frozen()?.evmNonce).to.equal(2)
  })

  it('carries out a call, and tells its result to who waits and to who comes later', async () => {
    const opened = await open()
    expect(opened.wasTaken('a')).to.equal(false)
    opened.take(callFor('a', 'b'))
    expect([opened.openCount(), told.includes('journaled')]).to.deep.equal([1, true])
    const waiting = opened.waitFor('b', 60_000)
    await eventually(() => opened.wasTaken('a'))
    scripted.mine()
    expect(await waiting).to.include({ status: 'success', blockNumber: 1n })
    expect(await opened.waitFor('a', 0)).to.include({ status: 'success' })
    expect(opened.openCount()).to.equal(0)
  })

  it('has a transaction journaled before a crash, and broadcasts it after the next start', async () => {
    const opened = await open()
    armCrashPoints((point) => {
      if (point === 'sender.after_record_before_append') throw new Error(point)
    })
    expect(() => opened.take(callFor('a'))).to.throw('sender.after_record_before_append')
    armCrashPoints(undefined)
    await txSender?.stop()
    expect(scripted.sent).to.deep.equal([])
    const second = await open()
    expect(second.openCount()).to.equal(1)
    await eventually(() => scripted.sent.length === 1)
  })

  it('takes no transaction once a foreign one used the key, and says why', async () => {
    const opened = await open()
    expect([opened.frozen(), opened.trouble()]).to.deep.equal([undefined, undefined])
    scripted.mineForeign()
    await eventually(() => opened.frozen() !== undefined)
    expect(opened.frozen()?.evmNonce).to.equal(0)
    expect(opened.trouble()).to.include('used nonce 0 of the signer')
    expect(opened.shortage(SCRIPTED_GAS, 0n)).to.deep.equal({
      kind: 'frozen',
      why: opened.trouble(),
    })
    expect(() => opened.take(callFor('a'))).to.throw(SenderFrozen)
    expect(journal.find('a')).to.equal(undefined)
  })

  it('takes nothing that would use its reserve of gas money, beside what is open (OPE-036)', async () => {
    const opened = await open({ reserve: { transactions: 2n, gasEach: 5n } })
    const facts = { ...SCRIPTED_GAS, balance: 10n * SCRIPTED_GAS.maxFeePerGas + 7n }
    expect(opened.shortage(facts, 7n)).to.equal(undefined)
    expect(opened.shortage(facts, 8n)?.kind).to.equal('gas_money')
    opened.take(callFor('a'))
    const cost = 100_000n * 4_010n
    expect(opened.shortage({ ...facts, balance: facts.balance + cost }, 7n)).to.equal(undefined)
    expect(opened.shortage({ ...facts, balance: facts.balance + cost - 1n }, 7n)?.kind).to.equal(
      'gas_money',
    )
  })

  it('says that its key has less than the reserve', async () => {
    const opened = await open({ reserve: { wei: SCRIPTED_GAS.balance + 1n } })
    expect(opened.trouble()).to.include(signer.address)
  })

  it('reads the fees and the balance of its key', async () => {
    const opened = await open()
    expect(await opened.readGas()).to.deep.equal(SCRIPTED_GAS)
  })

  it('takes nothing before the chain is verified, nor after it was silent', async () => {
    let isRight = false
    const verifyChain = () =>
      isRight ? Promise.resolve() : Promise.reject(new ChainUnreachable('silence'))
    const opened = await open({ verifyChain })
    expect(opened.shortage(SCRIPTED_GAS, 0n)).to.deep.equal({
      kind: 'chain_unverified',
      why: opened.trouble(),
    })
    isRight = true
    await eventually(() => opened.trouble() === undefined)
    expect(opened.shortage(SCRIPTED_GAS, 0n)).to.equal(undefined)
    expect(opened.chainSilentMs()).to.be.within(0, 40_000)
  })

  it('has at most 512 transactions in flight (OPE-035)', async () => {
    const opened = await open()
    scripted.lies = () => ({ silent: true })
    for (let n = 0; n < 511; n += 1) opened.take(callFor(`${n}`))
    expect(opened.shortage(SCRIPTED_GAS, 0n)?.kind).to.not.equal('too_many_open')
    opened.take(callFor('last'))
    expect(opened.openCount()).to.equal(512)
    scripted.lies = () => ({})
    await eventually(() => opened.shortage(SCRIPTED_GAS, 0n)?.kind === 'too_many_open')
  })

  it('ends when it is on a wrong chain', async () => {
    const fatal: unknown[] = []
    let asked = 0
    const verifyChain = () => {
      asked += 1
      return asked < 3 ? Promise.resolve() : Promise.reject(new Error('another chain'))
    }
    const onFatal = (error: unknown) => void fatal.push(error)
    await open({ verifyChain, onFatal, policy: { verifyEveryMs: 1 } })
    await eventually(() => fatal.length === 1)
    expect(fatal[0]).to.have.property('message', 'another chain')
  })

  it('waits for a node that does not answer yet, and says so once', async () => {
    const waitingForChain = () => {
      told.push('waitingForChain')
      scripted.lies = () => ({})
    }
    scripted.lies = () => ({ silent: true })
    await open({ facts: { ...factsTo(told), waitingForChain } })
    expect(told.filter((fact) => fact === 'waitingForChain')).to.have.length(1)
  })
})
