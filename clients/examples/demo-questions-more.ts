import type { Family } from './demo-family.ts';

/** The second half of the demo's questions. */
export const MORE_FAMILIES: readonly Family[] = [
  {
    domain: 'cooking',
    question: 'Can I freeze cooked rice?',
    rephrasings: ['Can cooked rice be frozen?', 'is it okay to freeze cooked rice', 'May I freeze cooked rice?'],
    traps: [
      ['opposite', 'Can I freeze uncooked rice?'],
      ['name', 'Can I freeze cooked pasta?'],
    ],
  },
  {
    domain: 'cooking',
    question: 'How many grams of flour are in 2 cups?',
    rephrasings: ['2 cups of flour are how many grams?', 'How many grams are in 2 cups of flour?'],
    traps: [
      ['number', 'How many grams of flour are in 3 cups?'],
      ['name', 'How many grams of sugar are in 2 cups?'],
    ],
  },
  {
    domain: 'cooking',
    question: 'Is this soup safe for people with a nut allergy?',
    rephrasings: [
      'For people with a nut allergy, is this soup safe?',
      'is the soup safe for people with nut allergies?',
    ],
    traps: [
      ['opposite', 'Is this soup unsafe for people with a nut allergy?'],
      ['name', 'Is this soup safe for people with a milk allergy?'],
    ],
  },
  {
    domain: 'health',
    question: 'May I take ibuprofen before the blood test?',
    rephrasings: ['Can I take ibuprofen before the blood test?', 'Before the blood test, may I take ibuprofen?'],
    traps: [
      ['opposite', 'May I take ibuprofen after the blood test?'],
      ['name', 'May I take paracetamol before the blood test?'],
    ],
  },
  {
    domain: 'health',
    question: 'How often should I take 200 mg of the medicine?',
    rephrasings: [
      'How often do I take 200 mg of the medicine?',
      'how often should I be taking 200 mg of the medicine?',
    ],
    traps: [
      ['number', 'How often should I take 400 mg of the medicine?'],
      ['number', 'How often should I take 200 g of the medicine?'],
    ],
  },
  {
    domain: 'health',
    question: 'Which vaccinations does a baby need?',
    rephrasings: ['What vaccinations does a baby need?', 'Which vaccinations do babies need?'],
    traps: [['negation', 'Which vaccinations does a baby not need?']],
  },
  {
    domain: 'health',
    question: 'Is it safe to exercise with a fever?',
    rephrasings: ['With a fever, is it safe to exercise?', 'is exercising with a fever safe?'],
    traps: [
      ['negation', 'Is it safe to exercise without a fever?'],
      ['opposite', 'Is it dangerous to exercise with a fever?'],
    ],
  },
  {
    domain: 'software',
    question: 'How do I enable dark mode in the settings?',
    rephrasings: ['How can I enable dark mode in the settings?', 'In the settings, how do I enable dark mode?'],
    traps: [['opposite', 'How do I disable dark mode in the settings?']],
  },
  {
    domain: 'software',
    question: 'What is new in version 2.4?',
    rephrasings: ["What's new in version 2.4?", 'what is new in version 2.4, please?'],
    traps: [
      ['number', 'What is new in version 2.5?'],
      ['opposite', 'What is missing in version 2.4?'],
    ],
  },
  {
    domain: 'software',
    question: 'How do I import contacts from a CSV file?',
    rephrasings: ['How can I import contacts from a CSV file?', 'How to import contacts from CSV files?'],
    traps: [
      ['opposite', 'How do I export contacts to a CSV file?'],
      ['name', 'How do I import contacts from a PDF file?'],
    ],
  },
  {
    domain: 'software',
    question: 'Why does the app need access to my location?',
    rephrasings: ['Why is access to my location needed by the app?', 'why does the app need to access my location'],
    traps: [
      ['name', 'Why does the app need access to my camera?'],
      ['negation', 'Why does the app not need access to my location?'],
    ],
  },
  {
    domain: 'software',
    question: 'Can a viewer comment on a shared document?',
    rephrasings: ['Is a viewer able to comment on a shared document?', 'Can viewers comment on shared documents?'],
    traps: [
      ['name', 'Can a viewer edit a shared document?'],
      ['name', 'Can a guest comment on a shared document?'],
    ],
  },
  {
    domain: 'office',
    question: 'How many days of holiday do I get in the first year?',
    rephrasings: [
      'In the first year, how many days of holiday do I get?',
      'How many holiday days do I get in the first year?',
    ],
    traps: [
      ['number', 'How many days of holiday do I get in the second year?'],
      ['name', 'How many days of sick leave do I get in the first year?'],
    ],
  },
  {
    domain: 'office',
    question: 'Does the manager approve the expenses of the employee?',
    rephrasings: [
      "Does the manager approve the employee's expenses?",
      'Do managers approve the expenses of employees?',
    ],
    traps: [['roles', 'Does the employee approve the expenses of the manager?']],
  },
  {
    domain: 'office',
    question: 'Where do I find the form for travel expenses?',
    rephrasings: ['Where can I find the form for travel expenses?', 'Where is the travel expenses form?'],
    traps: [
      ['name', 'Where do I find the form for medical expenses?'],
      ['question', 'When do I get the form for travel expenses?'],
    ],
  },
  {
    domain: 'home',
    question: 'How do I open the valve of the radiator?',
    rephrasings: ["How do I open the radiator's valve?", 'How can I open the valve of a radiator?'],
    traps: [
      ['opposite', 'How do I close the valve of the radiator?'],
      ['name', 'How do I open the valve of the boiler?'],
    ],
  },
  {
    domain: 'home',
    question: 'How warm should the fridge be?',
    rephrasings: ['How warm should a fridge be?', 'The fridge: how warm should it be?'],
    traps: [
      ['name', 'How warm should the freezer be?'],
      ['opposite', 'How cold should the fridge be?'],
    ],
  },
  {
    domain: 'home',
    question: 'Can dogs eat what cats eat?',
    rephrasings: ['May dogs eat what cats eat?', 'can a dog eat what a cat eats?'],
    traps: [['roles', 'Can cats eat what dogs eat?']],
  },
  {
    domain: 'law',
    question: 'Can my landlord raise the rent by 10 percent?',
    rephrasings: [
      'Is my landlord allowed to raise the rent by 10 percent?',
      'Can the rent be raised by 10 % by my landlord?',
    ],
    traps: [
      ['number', 'Can my landlord raise the rent by 20 percent?'],
      ['opposite', 'Can my landlord lower the rent by 10 percent?'],
    ],
  },
  {
    domain: 'law',
    question: 'By when must I file the tax return for 2024?',
    rephrasings: ['When must I file the tax return for 2024 by?', 'By when do I have to file the 2024 tax return?'],
    traps: [
      ['number', 'By when must I file the tax return for 2023?'],
      ['negation', 'When must I not file the tax return for 2024?'],
    ],
  },
  {
    domain: 'science',
    question: 'Why is the sky blue during the day?',
    rephrasings: ['During the day, why is the sky blue?', 'Why does the sky look blue during the day?'],
    traps: [
      ['name', 'Why is the sky red during the day?'],
      ['negation', 'Why is the sky not blue during the day?'],
    ],
  },
  {
    domain: 'science',
    question: 'What is 15 percent of 240?',
    rephrasings: ["What's 15 percent of 240?", 'what is 15 % of 240'],
    traps: [
      ['number', 'What is 15 percent of 420?'],
      ['number', 'What is 25 percent of 240?'],
    ],
  },
];
