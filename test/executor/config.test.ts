import { expect } from 'chai'
import { E18 } from '../../core/money.js'
import { executorEnv, readExecutorConfig, settingsOf } from '../../executor/config.js'
import { BadConfiguration } from '../../runtime/process/config.js'

const KEY = `0x${'0a'.repeat(32)}`
const LEAST = {
  EXECUTOR_PRIVATE_KEY: KEY,
  NATS_URL: 'nats://127.0.0.1:4222',
  RPC_URL: 'http://127.0.0.1:8545',
  DEPLOYMENT_FILE: 'deployment.json',
  DATA_DIR: 'var',
}

describe('the settings of the executor', () => {
  const wrong = (env: Record<string, string>): string[] => {
    const read = executorEnv.safeParse({ ...LEAST, ...env })
    return read.success ? [] : read.error.issues.map(({ path }) => path.join())
  }

  it('are complete with a key, a bus, a node, a deployment and a directory', () => {
    expect(executorEnv.parse(LEAST)).to.deep.equal({
      ...LEAST,
      EXECUTOR_HOST_NAMES: [],
      EXECUTOR_PORT: 8081,
      EXECUTOR_HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      LOCAL_CHAIN: '0',
      NATS_MONITOR_URL: [],
      NATS_REPLICAS: 1,
      EXECUTE_TIMEOUT_MS: 10_000,
      EXECUTOR_BATCH_WINDOW_MS: 0,
      EXECUTOR_SHARE_BELOW_FEE: 0n,
      GAS_TOKEN_USDC: 3_000n * E18,
      EXECUTOR_LOST_GAS_PER_HOUR: 3_000_000n,
      EXECUTOR_GAS_RESERVE_WEI: 10n ** 16n,
      EXECUTOR_ACCEPT_NONCES: 0,
    })
  })

  it('name each value that is out of its range', () => {
    const bounds: readonly (readonly [string, readonly string[], readonly string[]])[] = [
      ['EXECUTOR_PORT', ['0', '65535'], ['-1', '65536', '1.5']],
      [
        'EXECUTOR_PRIVATE_KEY',
        [KEY, KEY.toUpperCase().replace('0X', '0x')],
        [KEY.slice(2), `${KEY}0`, `x${KEY}`],
      ],
      ['EXECUTE_TIMEOUT_MS', ['100', '120000'], ['99', '120001']],
      ['EXECUTOR_BATCH_WINDOW_MS', ['0', '1000'], ['-1', '1001']],
      ['EXECUTOR_GAS_RESERVE_WEI', ['0', '9'.repeat(30)], ['', '-1', '1e18', '9'.repeat(31), 'x1']],
      ['EXECUTOR_SHARE_BELOW_FEE', ['0', '0.5', '3'], ['', '-1', 'x', `0.${'1'.repeat(19)}`]],
      ['EXECUTOR_LOST_GAS_PER_HOUR', ['1', '9'.repeat(15)], ['', '0', '-1', '9'.repeat(16)]],
      ['GAS_TOKEN_USDC', ['0', '0.5', '1000000'], ['', '-1', 'x', '1000000.1', '1e3']],
      ['EXECUTOR_ACCEPT_NONCES', ['0', '7'], ['-1']],
      ['EXECUTOR_SECRET', ['s'.repeat(32)], ['', 's'.repeat(31)]],
      ['DEPLOYMENT_FILE', ['d'], ['']],
      ['DATA_DIR', ['d'], ['']],
      ['RPC_URL', ['http://node'], ['node']],
      ['NATS_URL', ['nats://a,nats://b'], ['']],
    ]
    for (const [name, good, bad] of bounds) {
      for (const value of good) expect(wrong({ [name]: value }), value).to.deep.equal([])
      for (const value of bad) expect(wrong({ [name]: value }), value).to.deep.equal([name])
    }
  })

  it('are those of the executor itself by its own names', () => {
    const parsed = executorEnv.parse({
      ...LEAST,
      EXECUTE_TIMEOUT_MS: '500',
      EXECUTOR_BATCH_WINDOW_MS: '20',
      EXECUTOR_SHARE_BELOW_FEE: '0.5',
      EXECUTOR_GAS_RESERVE_WEI: '7',
      EXECUTOR_ACCEPT_NONCES: '3',
      GAS_TOKEN_USDC: '2',
      EXECUTOR_LOST_GAS_PER_HOUR: '9',
    })
    expect(
      settingsOf({ ...parsed, key: { file: 'key' }, door: { secret: 'word', hosts: [] } }),
    ).to.deep.equal({
      rpcUrl: LEAST.RPC_URL,
      dataDir: 'var',
      timeoutMs: 500,
      windowMs: 20,
      gasReserveWei: 7n,
      acceptNonces: 3,
      shareBelowFee: 5n * 10n ** 17n,
      gasTokenPrice: 2n * E18,
      lostGasPerHour: 9n,
    })
  })

  it('have one key, in a file or in the environment', () => {
    const { EXECUTOR_PRIVATE_KEY, ...others } = LEAST
    const readFrom = (env: NodeJS.ProcessEnv) => {
      const before = process.env
      process.env = env
      try {
        return readExecutorConfig()
      } finally {
        process.env = before
      }
    }
    const EXECUTOR_SECRET = 's'.repeat(32)
    const inFile = { ...others, EXECUTOR_SECRET, EXECUTOR_KEY_FILE: 'key' }
    expect(readFrom(inFile)).to.deep.include({ key: { file: 'key' }, DATA_DIR: 'var' })
    expect(readFrom({ ...LEAST, EXECUTOR_SECRET, LOCAL_CHAIN: '1' }).key).to.deep.equal({
      privateKey: EXECUTOR_PRIVATE_KEY,
      isWorthless: true,
    })
    const named = { ...inFile, EXECUTOR_HOST_NAMES: ' a.internal ,, b.internal' }
    expect(readFrom(named).door).to.deep.equal({
      secret: EXECUTOR_SECRET,
      hosts: ['127.0.0.1', 'a.internal', 'b.internal'],
    })
    expect(() => readFrom({ ...others, EXECUTOR_KEY_FILE: 'key' })).to.throw(
      BadConfiguration,
      'EXECUTOR_SECRET_FILE',
    )
    const withoutKey = { ...others, EXECUTOR_SECRET }
    expect(() => readFrom(withoutKey)).to.throw(BadConfiguration, 'EXECUTOR_KEY_FILE')
    expect(() => readFrom({ ...inFile, EXECUTOR_PRIVATE_KEY })).to.throw(
      'EXECUTOR_KEY_FILE and EXECUTOR_PRIVATE_KEY are both set',
    )
  })
})
