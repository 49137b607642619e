import { CodedError, coded } from '@gateway/contracts/messages.js'

/** A fault of a vector, described for its operator. */
export class VectorFault extends CodedError {
  override readonly name: string = 'VectorFault'
}

/** The file is another one than the catalog knows: the next scan finds it. */
export class VectorReplaced extends VectorFault {
  override readonly name: string = 'VectorReplaced'

  constructor() {
    super(coded('vector_file_replaced'))
  }
}
