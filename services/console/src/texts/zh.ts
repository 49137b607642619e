import { en, type Texts } from './en.js'
export const zh: Texts = en
