import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { closedDirectories, databaseFiles, databasePath, ownDirectory } from '../../data/places.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { keepPrivate } from '../../runtime/process/private-files.js'
import { groupsOf, idOf, makeDirectories } from '../support/operating-lists.js'
import { tempDir } from '../support/temp-dir.js'

/** Whether another user may read the tree: not where a directory above it is closed. */
const isReached = (tree: string): boolean =>
  spawnSync('setpriv', [
    ...[`--reuid=${idOf('venue-gateway')}`, '--clear-groups'],
    ...['test', '-r', join(tree, 'package.json')],
  ]).status === 0

/** Copies what programs of the tree need, and returns where. */
function copyTree(to: string): string {
  mkdirSync(to)
  const parts = ['package.json', 'dist', 'data', 'node_modules'].map((name) => inProject(name))
  const { status, stderr } = spawnSync('cp', ['-a', ...parts, to], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the tree could not be copied: ${stderr}`)
  return to
}

describe('a directory for each process, with the users of docs/operating', function () {
  const dir = tempDir()
  const dataDir = join(dir.path, 'venue')
  let tree = inProject('.')
  const historyOf = () => databasePath(dataDir, 'history.db')

  before(() => {
    // A test that needs other users cannot be replaced by one that pretends.
    if (process.getuid?.() !== 0)
      throw new Error('this test starts programs as other users: run it as root')
    for (const tool of ['setpriv'])
      if (spawnSync(tool, ['--version']).status !== 0)
        throw new Error(`this test needs ${tool} of util-linux`)
    // Others must be able to reach the directories, and the programs.
    chmodSync(dir.path, 0o755)
    if (!isReached(tree)) tree = copyTree(join(dir.path, 'tree'))
    makeDirectories('/var/lib/venue', (path) => path.replace('/var/lib/venue', dataDir))
  })
  after(() => dir.remove())

  /** Runs a program's text as the user of a process, with its groups, as systemd starts it. */
  function as(name: string, text: string) {
    const user = `venue-${name}`
    const groups = groupsOf(user).join(',')
    const ids = [`--reuid=${idOf(user)}`, `--regid=${idOf(user)}`]
    const begin = `process.umask(0o077); const dataDir = ${JSON.stringify(dataDir)};`
    const program = `${begin} ${text}`
    return spawnSync(
      'setpriv',
      [...ids, groups === '' ? '--clear-groups' : `--groups=${groups}`, process.execPath].concat([
        '--input-type=module',
        '--eval',
        program,
      ]),
      { cwd: tree, encoding: 'utf8', env: { PATH: process.env.PATH } },
    )
  }
  const at = (path: string): string => JSON.stringify(join(tree, 'dist', path))
  const write = () => `
    import { openDatabase } from ${at('data/open.js')}
    import { HISTORY_MIGRATIONS, historyPath } from ${at('data/history/project.js')}
    const db = openDatabase({ path: historyPath(dataDir), migrations: HISTORY_MIGRATIONS, synchronous: 'NORMAL' })
    db.exec('PRAGMA application_id = 7')
  `
  const read = () => `
    import { historyPath } from ${at('data/history/project.js')}
    import { openReadModel } from ${at('data/history/read-model.js')}
    const model = openReadModel(historyPath(dataDir))
    console.log(model.allTerms().length, 'markets')
  `

  it('gives history.db to the group of the projector, and a reader of another user opens it without its -shm', () => {
    const written = as('projector', `${write()}; db.close()`)
    expect(written.stderr).to.equal('')
    expect(historyOf()).to.equal(join(dataDir, 'projector', 'history.db'))
    expect(existsSync(`${historyOf()}-shm`)).to.equal(false)
    expect(statSync(historyOf()).mode & 0o777).to.equal(0o660)
    expect(statSync(historyOf()).gid).to.equal(idOf('venue-feeds'))

    // It stays open, so that what it made is there.
    const opened = as('gateway', `${read()}; process.kill(process.pid, 'SIGKILL')`)
    expect(opened.stdout, opened.stderr).to.equal('0 markets\n')
    const shm = statSync(`${historyOf()}-shm`)
    expect([shm.uid, shm.gid, shm.mode & 0o777]).to.deep.equal([
      ...[idOf('venue-gateway'), idOf('venue-feeds'), 0o660],
    ])
    // And the projector goes on with the file that the reader made.
    const again = as('projector', `${write()}; process.kill(process.pid, 'SIGKILL')`)
    expect(again.stderr).to.equal('')
    expect(as('gateway', read()).stdout).to.equal('0 markets\n')
  })

  it('keeps every directory but that one from each other process', () => {
    for (const owner of ['executor', 'keeper', 'deposit-submitter', 'order-intake', 'nats']) {
      const list = `import { readdirSync } from 'node:fs'; readdirSync(dataDir + '/${owner}')`
      expect(as(owner, list).status, owner).to.equal(0)
      for (const other of ['gateway', 'ws-fanout', 'projector', 'executor', 'withdrawal-submitter'])
        if (other !== owner)
          expect(as(other, list).stderr, `${other} ${owner}`).to.include('EACCES')
    }
    const refused = 'may not be opened by this user: its reader needs the group of its directory'
    expect(as('executor', read()).stderr).to.include(refused)
    // Nor by a reader that may look into the directory and not write there.
    chmodSync(join(dataDir, 'projector'), 0o2755)
    chmodSync(historyOf(), 0o644)
    for (const part of ['-wal', '-shm']) rmSync(`${historyOf()}${part}`, { force: true })
    expect(as('executor', read()).stderr).to.include(refused)
    chmodSync(join(dataDir, 'projector'), 0o2770)
    expect(as('projector', `${write()}; db.close()`).stderr).to.equal('')
    expect(as('gateway', read()).stdout).to.equal('0 markets\n')
    expect(
      as(
        'executor',
        `import { databaseFiles } from ${at('data/places.js')}; console.log([...databaseFiles(dataDir).keys()])`,
      ).stdout,
    ).to.equal('[]\n')
    expect([...databaseFiles(dataDir).keys()]).to.deep.equal(['history.db'])
    expect(ownDirectory(dataDir, 'matchers')).to.equal(dataDir)
    // So a backup of such a user would lack databases.
    const closed = `import { closedDirectories } from ${at('data/places.js')}; console.log(closedDirectories(dataDir).length)`
    expect(as('executor', closed).stdout).to.equal('6\n')
    expect(closedDirectories(dataDir)).to.deep.equal([])
    // A journal that may not be read does not count as absent: that would hide what is under way.
    const journal = `
      import { openJournalReader } from ${at('data/journal/read-journal.js')}
      console.log(openJournalReader(dataDir))
    `
    expect(as('gateway', journal).stderr).to.include('executor.db may not be read by this user')
    expect(as('executor', journal).stdout).to.equal('undefined\n')
  })

  it('lets each process write the address of its metrics, all read it, and no other delete it', () => {
    const serve = (name: string) => `
      import { createMetrics } from ${at('runtime/metrics/metrics.js')}
      import { serveMetrics } from ${at('runtime/metrics/serve-metrics.js')}
      const place = { dir: dataDir + '/metrics', host: '127.0.0.1', port: 0 }
      await serveMetrics(createMetrics(), { ...place, process: '${name}' })
      process.exit(0)
    `
    const file = join(dataDir, 'metrics', 'executor.json')
    for (const name of ['executor', 'gateway', 'executor'])
      expect(as(name, serve(name)).stderr, name).to.equal('')
    expect(statSync(file).mode & 0o777).to.equal(0o644)
    const remove = `import { unlinkSync } from 'node:fs'; unlinkSync(${JSON.stringify(file)})`
    expect(as('gateway', remove).stderr).to.match(/EPERM|EACCES/)
    expect(as('executor', remove).stderr).to.equal('')
  })

  it('does not take an archive for empty that a reader may not open', () => {
    const look = () =>
      as(
        'order-intake',
        `import { openFeedArchive } from ${at('data/feed-archive.js')}
        const found = await openFeedArchive(dataDir + '/feed-archive').segments('FEED_x')
        console.log(found.length, 'segments')`,
      )
    expect(look().stdout).to.equal('0 segments\n')
    const folder = join(dataDir, 'feed-archive', 'FEED_x')
    mkdirSync(folder)
    writeFileSync(
      join(folder, 'manifest.json'),
      JSON.stringify({ version: 1, stream: 'FEED_x', segments: [] }),
    )
    chmodSync(folder, 0o700)
    expect(look().stderr).to.include('ArchiveNotShared').and.include('may not be read by this user')
    chmodSync(folder, 0o750)
    expect(look().stdout).to.equal('0 segments\n')
  })

  it('stays open to all processes after a start of one as root', () => {
    keepPrivate(dataDir, { isDeep: false })
    expect(statSync(dataDir).mode & 0o777).to.equal(0o755)
  })

  it('is no different where the operator made no directories', () => {
    const flat = join(dir.path, 'flat')
    mkdirSync(flat)
    expect(databasePath(flat, 'executor.db')).to.equal(join(flat, 'executor.db'))
    expect(databasePath(dataDir, 'executor.db')).to.equal(join(dataDir, 'executor', 'executor.db'))
    rmSync(flat, { recursive: true })
  })
})
