import { expect } from 'chai'
import {
  checkpointsOf,
  environmentOf,
  executorOf,
  matcherEnv,
  operatorsOf,
} from '../../../actors/matcher/config.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import { withDefaults } from '../../../actors/matcher/settings.js'
import { operatorText, type MarketRequest } from '../../../bus-schemas/markets.js'
import { ENGINE_VERSION } from '../../../core/engine/engine-version.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { newSeed } from '../../../runtime/bus/nkeys.js'
import { operatorKeyOf } from '../../../runtime/bus/operator-key.js'
import { createLog } from '../../../runtime/process/log.js'
import { neverDecides, stageMarket } from './stage.js'

const LEAST = {
  NATS_URL: 'nats://127.0.0.1:4222',
  EXECUTOR_URL: 'http://127.0.0.1:8081',
}
const newKey = () => operatorKeyOf(new TextEncoder().encode(newSeed()))
const ada = newKey()
const bob = newKey()

describe('the settings of a matcher', () => {
  const read = (env: Record<string, string> = {}) => ({
    ...matcherEnv.parse({ ...LEAST, ...env }),
    executorSecret: 'word',
  })
  const wrong = (env: Record<string, string>): string[] => {
    const parsed = matcherEnv.safeParse({ ...LEAST, ...env })
    return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join())
  }

  it('are complete with a bus and an executor', () => {
    const { EXECUTOR_URL, ...others } = matcherEnv.parse(LEAST)
    expect(EXECUTOR_URL.map(({ href }) => href)).to.deep.equal(['http://127.0.0.1:8081/'])
    expect(others).to.deep.equal({
      NATS_URL: LEAST.NATS_URL,
      NATS_MONITOR_URL: [],
      NATS_REPLICAS: 1,
      EXECUTOR_TIMEOUT_MS: 40_000,
      STANDBY: '0',
      OWN_PROCESS_MARKETS: ['cNGN-USDC', 'cNGN-PERP'],
      MARKETS_ELSEWHERE: [],
      SETTLEMENT_LATE_SECONDS: 60,
      OPERATOR_KEYS: new Map(),
      LOG_LEVEL: 'info',
      CHECKPOINT_COMMANDS: 100_000,
      CHECKPOINT_SECONDS: 600,
      COMMANDS_KEEP_HOURS: 168,
    })
  })

  it('name each value that is out of its range', () => {
    const key = ada.publicKey
    const bounds: readonly (readonly [string, readonly string[], readonly string[]])[] = [
      ['EXECUTOR_TIMEOUT_MS', ['1'], ['0', '-1', '1.5']],
      ['CHECKPOINT_COMMANDS', ['1'], ['0']],
      ['STANDBY', ['0', '1'], ['2']],
      ['ENGINE_VERSION', ['1', `${ENGINE_VERSION}`], ['0', `${ENGINE_VERSION + 1}`]],
      ['MARKET', ['m'], ['']],
      ['EXECUTOR_SECRET', ['s'.repeat(32)], ['', 's'.repeat(31)]],
      ['OPERATOR_KEYS', ['', ' ', ',', `ada=${key}`, `a.b_c-9=${key}`], ['ada', `=${key}`]],
      ['OPERATOR_KEYS', [], [`ada=${key}A`, `xada =${key}`, `ada=${key.slice(1)}`, `ada=${key};`]],
      ['OPERATOR_KEYS', [`${'a'.repeat(32)}=${key}`], [`${'a'.repeat(33)}=${key}`]],
    ]
    for (const [name, good, bad] of bounds) {
      for (const value of good) expect(wrong({ [name]: value }), value).to.deep.equal([])
      for (const value of bad) expect(wrong({ [name]: value }), value).to.deep.equal([name])
    }
  })

  it('name the operators by their keys', async () => {
    const given = ` ada=${ada.publicKey} ,, bob=${bob.publicKey}`
    const config = read({ OPERATOR_KEYS: given })
    expect([...config.OPERATOR_KEYS]).to.deep.equal([
      [ada.publicKey, 'ada'],
      [bob.publicKey, 'bob'],
    ])
    const bus = createMemoryBus()
    const operators = operatorsOf(config)
    await operators.open(bus)
    const change = { kind: 'pause' } as const
    const request: MarketRequest = { request_id: 'r', by: 'root', reason: 'test', change }
    const issued = { issuedAtMs: Date.now(), nonce: '1'.padStart(32, '0') }
    const verdict = await operators.verdict(bus, bob.sign('M', request, issued), (proof) =>
      operatorText('M', request, proof),
    )
    expect(verdict).to.deep.equal({ by: 'bob (root)' })
  })

  it('say where the executors are, and how long to wait for an answer', () => {
    const config = read({
      EXECUTOR_URL: 'http://a:1, http://b:2',
      EXECUTOR_TIMEOUT_MS: '7',
    })
    const { executors, ...rest } = executorOf(config)
    expect(executors.inOrder()).to.deep.equal(['http://a:1/', 'http://b:2/'])
    expect(rest).to.deep.equal({ secret: 'word', timeoutMs: 7 })
  })

  it('say when a checkpoint is due, and how long the log is kept', () => {
    const config = read({ CHECKPOINT_COMMANDS: '5', CHECKPOINT_SECONDS: '6' })
    expect(checkpointsOf({ ...config, COMMANDS_KEEP_HOURS: 7 })).to.deep.equal({
      everyCommands: 5,
      everyMs: 6_000,
      keepCommandsMs: 7 * 3_600_000,
    })
  })

  it('of the process of one market are those of its parent, which it watches', () => {
    const { PATH } = process.env
    expect(environmentOf('M')).to.include({ MARKET: 'M', PARENT_WATCH: '1', PATH })
  })

  it('have defaults that ask no executor, take no command and keep the engine’s version', async () => {
    const given = {
      bus: createMemoryBus(),
      market: stageMarket,
      ask: neverDecides,
      tickMs: 1,
      facts: observeMatcher(createLog('test', 'silent')),
      nowMs: () => 5,
      onFatal: () => undefined,
    }
    const settings = withDefaults(given)
    expect(settings).to.include({ ...given, standby: false, engineVersion: undefined })
    const { signal } = new AbortController()
    expect(await settings.reversals.ask(0, signal)).to.deep.equal([])
    expect(await settings.faults.ask(signal)).to.deep.equal({})
    expect(settings.leaderId).to.not.equal(withDefaults(given).leaderId)
    const before = settings.elapsedMs()
    const after = settings.elapsedMs()
    expect(after).to.be.within(before, before + 60_000)
    const change = { kind: 'pause' } as const
    const request: MarketRequest = { request_id: 'r', by: 'root', reason: 'test', change }
    expect(
      await settings.operators.verdict(given.bus, request, () => new Uint8Array()),
    ).to.have.property('problem')
    expect(withDefaults({ ...given, standby: true, leaderId: 'one' })).to.include({
      standby: true,
      leaderId: 'one',
    })
  })
})
