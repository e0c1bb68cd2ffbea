import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { provideBundles } from '../../devnet/bundle.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { parseProcfile } from '../../devnet/launcher/procfile.js'
import { inheritedEnvironment } from '../support/config.js'
import { testKey } from '../support/devnet-world.js'
import { deploymentFile } from '../support/deployment-file.js'
import { tempDir } from '../support/temp-dir.js'

const KEY = testKey(1002)
/** Three answers take ten seconds; the rest is for a busy machine. */
const ENDS_WITHIN_MS = 90_000
/** Of the Procfile, and the auditor; the matchers and the projector ask no node. */
const WITHOUT_CHAIN = ['matchers', 'projector']
const NO_MARKETS = { markets: [], own: [] }
const AUDITOR = { name: 'auditor', command: 'exec node bundle/actors/auditor/main.js' }

describe('a process that is started on a node of another chain', () => {
  const dir = tempDir()
  let node: Server
  let rpcUrl: string
  let asked: string[]

  before(async () => {
    await provideBundles()
    node = createServer((request, response) => {
      void json(request).then((given) => {
        const answers = (given as { id: number; method: string }[]).map(({ id, method }) => {
          asked.push(method)
          return { jsonrpc: '2.0', id, result: '0x1' }
        })
        response.end(JSON.stringify(answers))
      })
    })
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
    rpcUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
    writeFileSync(join(dir.path, 'deployment.json'), JSON.stringify(deploymentFile(8453)))
  })
  beforeEach(() => (asked = []))
  after(() => {
    node?.close()
    dir.remove()
  })

  const processes = [
    ...parseProcfile(readFileSync(inProject('Procfile'), 'utf8'), NO_MARKETS).filter(
      ({ name }) => !WITHOUT_CHAIN.includes(name),
    ),
    AUDITOR,
  ]
  /** No bus is there, so that each has to ask its node first. */
  const environment = () => ({
    ...inheritedEnvironment(),
    RPC_URL: rpcUrl,
    DEPLOYMENT_FILE: join(dir.path, 'deployment.json'),
    DATA_DIR: dir.path,
    NATS_URL: 'nats://127.0.0.1:1',
    EXECUTOR_PRIVATE_KEY: KEY,
    DEPOSIT_SUBMITTER_PRIVATE_KEY: KEY,
    WITHDRAWAL_SUBMITTER_PRIVATE_KEY: KEY,
    KEEPER_PRIVATE_KEY: KEY,
    LOCAL_CHAIN: '1',
    EXECUTOR_SECRET: 'hush'.repeat(10),
    EXECUTOR_URL: 'http://127.0.0.1:1',
    WS_FANOUT_URL: 'http://127.0.0.1:1',
    WS_FANOUT_PORT: '0',
    GATEWAY_PORT: '0',
    AUDIT_EVERY_S: '60',
    PARENT_WATCH: '0',
  })
  const run = async (command: string) => {
    const child = spawn('/bin/sh', ['-c', command], { cwd: inProject('.'), env: environment() })
    const late = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    clearTimeout(late)
    return { code, lines: output.split('\n').filter((line) => line.includes('DeploymentMismatch')) }
  }

  it('ends with 78 and one line after three answers, and reads nothing else of it (OPE-032)', async () => {
    const names = processes.map(({ name }) => name)
    expect(names).to.include.members(['executor', 'keeper', 'gateway', 'ws-fanout'])
    const ended = await Promise.all(processes.map(({ command }) => run(command)))
    for (const [i, { code, lines }] of ended.entries()) {
      expect(lines, names[i]).to.have.length(1)
      expect(lines[0], names[i]).to.include('the deployment is on chain 8453, the node on 1')
      expect(code, names[i]).to.equal(78)
    }
    expect([...new Set(asked)]).to.deep.equal(['eth_chainId'])
    expect(asked.length).to.be.at.least(3 * processes.length)
  })
})
