import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { provideBundles } from '../../devnet/bundle.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { tempDir } from '../support/temp-dir.js'

const FREE = { GATEWAY_PORT: '0', EXECUTOR_PORT: '0', NATS_PORT: '0', CHAIN_PORT: '0' }

/** Starts a venue that cannot start; what it prints, and its exit code. */
function up(env: Readonly<Record<string, string>>) {
  const { status, stderr } = spawnSync(process.execPath, [inProject('bundle/devnet/up.js')], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { PATH: process.env.PATH, ...FREE, ...env },
  })
  return { status, stderr }
}

describe('a start that cannot succeed', function () {
  const dir = tempDir()
  before(provideBundles)
  after(() => dir.remove())

  it('says in one line that DATA_DIR is a file, or where no directory can be made', () => {
    const file = join(dir.path, 'file')
    writeFileSync(file, '')
    for (const [place, why] of [
      [file, 'a file is in its place'],
      ['/proc/venue', 'ENOENT: .+'],
    ] as const) {
      const { status, stderr } = up({ DATA_DIR: place })
      expect(stderr).to.match(
        new RegExp(`^venue: DATA_DIR ${place} cannot be written \\(${why}\\); set DATA_DIR\n$`),
      )
      expect(status).to.equal(1)
    }
  })

  it('names each port that is taken, with its variable', async () => {
    const servers = [createServer(), createServer()].map((each) => each.listen(0, '127.0.0.1'))
    await Promise.all(servers.map((each) => once(each, 'listening')))
    const [port, chain] = servers.map((each) => `${(each.address() as AddressInfo).port}`)
    const taken = { GATEWAY_PORT: port ?? '', CHAIN_PORT: chain ?? '' }
    const { status, stderr } = up({ DATA_DIR: join(dir.path, 'venue'), ...taken })
    for (const server of servers) server.close()
    expect(stderr).to.match(
      new RegExp(
        `^venue: port ${port} cannot be used .+; set GATEWAY_PORT\nport ${chain} cannot be used .+; set CHAIN_PORT\n$`,
      ),
    )
    expect(status).to.equal(1)
  })
})
