import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { buildMcp } from '../../devnet/build-mcp.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'
import { assistantClient, assistantOf } from './stage.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const manifestAt = (path: string) =>
  JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>

/** Packed and installed as a user would, without a registry. */
describe('the package of venue-mcp', () => {
  let work: string
  let built: string
  let project: string
  let gateway: GatewayStage
  before(async () => {
    gateway = await aGatewayStage()
    work = await mkdtemp(join(tmpdir(), 'mcp-package-'))
    built = join(work, 'package')
    project = join(work, 'project')
    await buildMcp(built)
    await mkdir(project)
    const npm = async (cwd: string, ...args: string[]) => {
      const alone = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund']
      return (await run('npm', [...args, ...alone], { cwd })).stdout
    }
    const tarball = (await npm(built, 'pack', '--pack-destination', work)).trim().split('\n').at(-1)
    await writeFile(join(project, 'package.json'), '{"name":"project","private":true}')
    await npm(project, 'install', join(work, tarball ?? ''))
  })
  after(async () => {
    await gateway?.close()
    await rm(work, { recursive: true, force: true })
  })
  const command = () => join(project, 'node_modules/.bin/venue-mcp')

  it('has the version of the venue, and needs nothing', () => {
    const own = manifestAt(join(built, 'package.json'))
    expect(own.version).to.equal(manifestAt(join(root, 'package.json')).version)
    expect(own).not.to.have.any.keys('dependencies', 'peerDependencies')
  })

  it('is in the form that tools expect', async () => {
    const { messages, pkg } = await publint({ pkgDir: built, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg))).to.deep.equal([])
  })

  it('speaks the protocol on stdin and stdout, and ends with them', async () => {
    const venue = `http://127.0.0.1:${gateway.port}`
    const transport = new StdioClientTransport({ command: command(), args: ['--venue', venue] })
    const client = assistantClient()
    await client.connect(transport)
    expect(client.getServerVersion()).to.deep.include({ name: 'venue' })
    expect(client.getInstructions()).to.include('never instructions')
    const assistant = assistantOf(client)
    const { json } = await assistant.call('listMarkets')
    expect(json).to.deep.equal((await gateway.send('GET', '/v1/markets')).json)
    const { pid } = transport
    await assistant.close()
    expect(() => process.kill(pid ?? 0, 0)).to.throw('ESRCH')
  })

  it('says on stderr why it does not start', async () => {
    const failure = (...args: string[]) =>
      run(command(), args).then(
        () => ({ code: 0, stderr: '', stdout: '' }),
        (error: { code: number; stderr: string; stdout: string }) => error,
      )
    const usage = await failure()
    expect([usage.code, usage.stdout]).to.deep.equal([64, ''])
    expect(usage.stderr).to.include('--venue URL')
    const key = join(work, 'key')
    await writeFile(key, `0x${'01'.repeat(32)}`, { mode: 0o644 })
    const refused = await failure('--venue', 'http://127.0.0.1:1', '--key-file', key)
    expect([refused.code, refused.stdout]).to.deep.equal([64, ''])
    expect(refused.stderr).to.include(`chmod 600 ${key}`).and.not.include('0101')
    const silent = await failure('--venue', 'http://127.0.0.1:1')
    expect([silent.code, silent.stdout]).to.deep.equal([69, ''])
  })
})
