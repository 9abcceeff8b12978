import { choose } from '../persistence/helper.js'

choose('Postgres')
