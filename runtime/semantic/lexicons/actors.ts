/**
 * People and bodies that act on others. Words that are mostly something else (guest, order, server) are left out. Origin: written for this
 * project from general knowledge of English.
 */
export const ACTOR_WORDS: readonly string[] =
  `wife husband spouse son daughter mother mom mum father dad brother sister child kid baby toddler friend girlfriend boyfriend partner fiance
  boss manager supervisor colleague coworker teammate classmate flatmate roommate housemate neighbour neighbor tenant landlord landlady lodger
  ex nephew niece aunt uncle cousin grandmother grandfather grandma grandpa student teacher tutor professor coach assistant intern apprentice
  employer employee contractor client customer patient nurse doctor dentist surgeon therapist vet lawyer solicitor accountant agent broker
  adviser advisor banker cashier clerk waiter driver courier cyclist plumber builder mechanic seller buyer dealer lender borrower
  bank shop store company firm insurer airline hotel hostel restaurant gym school university college hospital clinic pharmacy garage council
  embassy police team dog cat guest admin moderator people parents family children friends neighbours`.split(/\s+/u);

/** Those whose thing or doing is named by a word before it ("my sister's car"), seldom a kind of thing ("hotel room"). */
export const OWNING_WORDS: readonly string[] =
  `wife husband spouse son daughter mother mom mum father dad brother sister friend girlfriend boyfriend partner fiance boss manager supervisor
  colleague coworker teammate classmate flatmate roommate housemate neighbour neighbor tenant landlord landlady lodger ex nephew niece aunt
  uncle cousin grandmother grandfather assistant employer`.split(/\s+/u);
