import { expect } from 'chai'
import { describe, it } from 'mocha'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import * as chains from 'viem/chains'
import { readBusConfig, readLauncherConfig, readyLines } from '../../devnet/launcher/config.js'
import { provideExecutorSecret } from '../../devnet/launcher/data-dir.js'
import { executorSecretOf } from '../../runtime/process/shared-secret.js'
import { settlePorts, workerEnvironments } from '../../devnet/launcher/environment.js'
import { tempDir } from '../support/temp-dir.js'

const KEY = `0x${'11'.repeat(32)}`

describe('devnet/config', () => {
  it('has the documented defaults, for absent and for empty variables', () => {
    const config = readLauncherConfig({ GATEWAY_PORT: '', DEMO_MAKER: '' })
    const ports = { gateway: 8080, executor: 8081, ws_fanout: 0, nats: 4322, chain: 8645 }
    expect(config.ports).to.deep.equal(ports)
    expect(config).to.include({ blockTimeS: 2, savesChain: true, demoMaker: true, feeder: true })
    expect(config.logLevel).to.equal('info')
    expect(config.dataDir).to.match(/^\/.*\/var$/)
    expect(config.existing).to.equal(undefined)
  })

  it('gives a new local chain an id that no known chain has, or the one that is asked for', () => {
    const { chainId } = readLauncherConfig({})
    const known = Object.values(chains).map(({ id }) => id)
    expect(known).to.include.members([8453, 31_337])
    expect(known).not.to.include(chainId)
    expect(readLauncherConfig({ DEVNET_CHAIN_ID: '77' }).chainId).to.equal(77)
    for (const bad of ['0', '0x1', '4503599627370477'])
      expect(() => readLauncherConfig({ DEVNET_CHAIN_ID: bad })).to.throw('DEVNET_CHAIN_ID must be')
  })

  it('names every variable that is wrong', () => {
    const read = () =>
      readLauncherConfig({ GATEWAY_PORT: '80a', DEVNET_BLOCK_TIME: '0', DEMO_MAKER: 'yes' })
    expect(read).to.throw(/GATEWAY_PORT must be a port.*\nDEVNET_BLOCK_TIME must be whole.*\nDEMO/)
    expect(() => readLauncherConfig({ CHAIN_PORT: '65536' })).to.throw('CHAIN_PORT must be a port')
    expect(() => readLauncherConfig({ EXECUTOR_PRIVATE_KEY: 'abc' })).to.throw('64 hex digits')
  })

  it('gives one line for each port that is taken, or is that of two settings', async () => {
    const dir = tempDir()
    const server = createServer().listen(0, '127.0.0.1')
    const other = createServer().listen(0, '127.0.0.1')
    try {
      await Promise.all([server, other].map((each) => once(each, 'listening')))
      const [port, chain] = [server, other].map((each) => (each.address() as AddressInfo).port)
      const ports = { GATEWAY_PORT: `${port}`, EXECUTOR_PORT: `${port}`, NATS_PORT: '0' }
      const given = { ...ports, CHAIN_PORT: `${chain}`, DATA_DIR: dir.path }
      const refusal = await settlePorts(readLauncherConfig(given)).catch(String)
      const line = (of: number | undefined, name: string) =>
        `port ${of} cannot be used \\(.*\\); set ${name}_PORT`
      const both = `EXECUTOR_PORT and GATEWAY_PORT are both ${port}: change one`
      expect(refusal).to.match(
        new RegExp(`: ${line(port, 'GATEWAY')}\\n${both}\\n${line(chain, 'CHAIN')}$`),
      )
    } finally {
      server.close()
      other.close()
      dir.remove()
    }
  })

  it('names the page, the documentation and an example where they are', () => {
    const lines = readyLines(readLauncherConfig({ DATA_DIR: '/tmp/x' }), 'http://127.0.0.1:1')
    expect(lines).to.deep.equal([
      'venue ready http://127.0.0.1:1',
      '  terminal:      http://127.0.0.1:1/',
      '  documentation: http://127.0.0.1:1/docs',
      '  first example: DATA_DIR=/tmp/x node dist/examples/01-place-order.js',
    ])
    const [, , , usual] = readyLines(readLauncherConfig({}), 'http://127.0.0.1:1')
    expect(usual).to.equal('  first example: node dist/examples/01-place-order.js')
  })

  it('takes a deployment only whole', () => {
    const RPC_URL = 'http://127.0.0.1:1'
    const DEPLOYMENT_FILE = 'd.json'
    expect(() => readLauncherConfig({ RPC_URL })).to.throw('belong together')
    expect(() => readLauncherConfig({ DEPLOYMENT_FILE })).to.throw('belong together')
    expect(() => readLauncherConfig({ RPC_URL, DEPLOYMENT_FILE })).to.throw('EXECUTOR_KEY_FILE')
    const config = readLauncherConfig({ RPC_URL, DEPLOYMENT_FILE, EXECUTOR_PRIVATE_KEY: KEY })
    expect(config.existing).to.include({ rpcUrl: RPC_URL, executorPrivateKey: KEY })
  })

  it('asks neither a deployment nor a key of a program that sends nothing, and hands the chain on', () => {
    const RPC_URL = 'http://127.0.0.1:1'
    for (const given of [{ RPC_URL }, { RPC_URL, DEPLOYMENT_FILE: 'd.json' }, {}]) {
      const { existing, inherited } = readBusConfig({ ...given, EXECUTOR_PRIVATE_KEY: KEY })
      expect(existing).to.equal(undefined)
      expect(inherited).to.deep.equal(given)
    }
    expect(readBusConfig({ RPC_URL, NATS_URL: '' }).natsUrl).to.equal(undefined)
  })
})

describe('devnet/launcher-env', () => {
  const wiring = {
    natsUrl: 'nats://n',
    natsCredentials: '/bus',
    operatorKeys: 'operator=UKEY',
    rpcUrl: 'http://r',
    deploymentFile: '/d.json',
    marketsFile: '/m.json',
    ports: { gateway: 1, executor: 2, ws_fanout: 3, nats: 4, chain: 5 },
    executorAddress: '0xe0',
    demoPort: 6,
    keys: {
      executor: 'executor-key',
      depositSubmitter: 'deposit-key',
      withdrawalSubmitter: 'withdrawal-key',
      keeper: 'keeper-key',
      demoMaker: { privateKey: 'maker-key', subaccountId: '8', perpSubaccountId: '9,10' },
      feeder: 'feeder-key',
      demoAccounts: 'demo-key',
    },
  }
  const environmentsOf = (told: Record<string, string>) =>
    workerEnvironments(readLauncherConfig({ EXECUTOR_PRIVATE_KEY: KEY, ...told }), wiring)
  const environment = environmentsOf({ OTHER_SECRET: 'x', CANCEL_AUTH: 'y' })

  it('gives every process the places, and what the operator set', () => {
    expect(environment('gateway')).to.include({
      NATS_URL: 'nats://n',
      RPC_URL: 'http://r',
      DEPLOYMENT_FILE: '/d.json',
      NATS_CREDENTIALS: '/bus',
      GATEWAY_PORT: '1',
      EXECUTOR_URL: 'http://127.0.0.1:2',
      WS_FANOUT_PORT: '3',
      WS_FANOUT_URL: 'ws://127.0.0.1:3',
      CANCEL_AUTH: 'y',
      PARENT_WATCH: '1',
    })
  })

  it('says where demo accounts are given, to the gateway alone, where any are', () => {
    const place = { DEMO_ACCOUNTS_URL: 'http://127.0.0.1:6' }
    expect(environment('gateway')).to.include(place)
    expect(environment('order-intake')).not.to.have.property('DEMO_ACCOUNTS_URL')
    const none = workerEnvironments(readLauncherConfig({}), { ...wiring, demoPort: undefined })
    expect(none('gateway')).not.to.have.property('DEMO_ACCOUNTS_URL')
  })

  it('tells wallets of its own chain, and of an existing one only what the operator has set', () => {
    const own = { CHAIN_NAME: 'Venue devnet', CHAIN_RPC_URL: 'http://r' }
    expect(environment('gateway')).to.include(own)
    expect(environment('projector')).not.to.have.any.keys(Object.keys(own))
    const there = { RPC_URL: 'http://secret.node', DEPLOYMENT_FILE: '/d.json' }
    const existing = environmentsOf({ ...there, CHAIN_NAME: 'Base' })
    expect(existing('gateway')).to.include({ CHAIN_NAME: 'Base' })
    expect(existing('gateway')).not.to.have.property('CHAIN_RPC_URL')
  })

  it('says who sends matches, where it knows', () => {
    expect(environment('order-intake')).to.include({ EXECUTOR_ADDRESS: '0xe0' })
    const told = readLauncherConfig({ EXECUTOR_PRIVATE_KEY: KEY, EXECUTOR_ADDRESS: '0xe1' })
    const elsewhere = workerEnvironments(told, { ...wiring, executorAddress: undefined })
    expect(elsewhere('order-intake')).to.include({ EXECUTOR_ADDRESS: '0xe1' })
  })

  it('gives a key only to the process that signs with it', () => {
    const secretsOf = (process: string) =>
      Object.entries(environmentsOf({ EXECUTOR_SECRET: 'hush' })(process))
        .filter(([name, value]) => /KEY|SECRET/.test(name) && value !== undefined)
        // The operators' public keys.
        .filter(([name]) => name !== 'OPERATOR_KEYS')
        .map(([name]) => name)
    expect(secretsOf('gateway')).to.deep.equal([])
    expect(secretsOf('order-intake')).to.deep.equal([])
    expect(secretsOf('matcher-cngn-usdc')).to.deep.equal(['EXECUTOR_SECRET'])
    expect(secretsOf('executor')).to.deep.equal(['EXECUTOR_PRIVATE_KEY', 'EXECUTOR_SECRET'])
    expect(secretsOf('deposit-submitter')).to.deep.equal(['DEPOSIT_SUBMITTER_PRIVATE_KEY'])
    expect(secretsOf('demo-maker')).to.deep.equal(['DEMO_MAKER_PRIVATE_KEY'])
    expect(secretsOf('feeder')).to.deep.equal(['FEEDER_PRIVATE_KEY'])
    expect(secretsOf('demo-accounts')).to.deep.equal(['DEMO_ACCOUNTS_PRIVATE_KEY'])
    expect(environment('executor').EXECUTOR_PRIVATE_KEY).to.equal('executor-key')
    const inFile = environmentsOf({ EXECUTOR_KEY_FILE: '/k' })
    expect(inFile('executor')).to.include({ EXECUTOR_KEY_FILE: '/k' })
    expect(inFile('executor')).to.not.have.property('EXECUTOR_PRIVATE_KEY')
    expect(inFile('gateway')).to.not.have.property('EXECUTOR_KEY_FILE')
  })

  it('makes the secret once, for the user of the venue alone', async () => {
    const file = join(tempDir().path, 'executor.secret')
    await provideExecutorSecret(file)
    const secret = executorSecretOf({ EXECUTOR_SECRET_FILE: file })
    expect(secret).to.match(/^[0-9a-f]{64}$/)
    expect(statSync(file).mode & 0o777).to.equal(0o600)
    await provideExecutorSecret(file)
    expect(executorSecretOf({ EXECUTOR_SECRET_FILE: file })).to.equal(secret)
  })

  it('gives executor and matchers the secret: a file of the venue, or what the operator set', () => {
    const { EXECUTOR_SECRET_FILE: file } = environment('executor')
    expect(file).to.match(/\/var\/executor\.secret$/)
    expect(environment('matcher-x').EXECUTOR_SECRET_FILE).to.equal(file)
    expect(environment('gateway')).to.not.have.property('EXECUTOR_SECRET_FILE')
    const placed = environmentsOf({ EXECUTOR_SECRET_FILE: '/s' })
    expect(placed('executor')).to.include({ EXECUTOR_SECRET_FILE: '/s' })
    const told = environmentsOf({ EXECUTOR_SECRET: 'hush' })
    expect(told('executor')).to.include({ EXECUTOR_SECRET: 'hush' })
    expect(told('executor').EXECUTOR_SECRET_FILE).to.equal(undefined)
    expect(told('matcher-x').EXECUTOR_SECRET).to.equal('hush')
    expect(told('gateway').EXECUTOR_SECRET).to.equal(undefined)
  })
})
