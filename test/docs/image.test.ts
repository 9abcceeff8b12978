import { readFileSync } from 'node:fs'
import t from 'tap'

const lines = (file: string) => readFileSync(file, 'utf8').split('\n')

t.test('start, Start it: .dockerignore lets each file pass that the Dockerfile copies, and no other', async t => {
  const passed = lines('.dockerignore').flatMap(line => (line.startsWith('!') ? [line.slice(1)] : []))
  const copied = lines('Dockerfile')
    .filter(line => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap(line => line.split(' ').slice(1, -1))
  t.same(new Set(passed), new Set(copied))
})

t.test('start, With Docker: arguments of docker run are those of the program', async t => {
  const entry = lines('Dockerfile').filter(line => /^(ENTRYPOINT|CMD) /.test(line))
  t.same(entry, ['ENTRYPOINT ["payments-sandbox"]'])
})

t.test('README, The guide: the build of the image has all that the guide is rendered from', async t => {
  const [build = ''] = readFileSync('Dockerfile', 'utf8').split(/^RUN npm run build$/m)
  for (const file of ['README.md', 'docs', 'skills', 'scripts']) t.match(build, `\nCOPY ${file} `)
})
