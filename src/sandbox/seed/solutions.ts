/** What a customer buys together: the projects that deals are about, and smaller orders. */
export interface Solution {
  /** Names of deals; `#` becomes the number of units. */
  names: readonly string[];
  /** The customer's ask. */
  ask: string;
  /** Category of the deal. */
  category: string;
  units: Units;
  parts: readonly Part[];
}

/** What `#` counts: how many per employee (from, to), with a minimum and a maximum. */
interface Units {
  perEmployee: readonly [low: number, high: number];
  min: number;
  max: number;
}

export interface Part {
  /** Product category. */
  category: string;
  /** A text in the names of the products that fit. */
  text: string;
  /** Quantity for each unit, and once. */
  perUnit: number;
  once: number;
  recurring: boolean;
  /** In how many of the deals it is. */
  share: number;
}

const units = (low: number, high: number, min: number, max: number): Units => ({
  perEmployee: [low, high],
  min,
  max,
});

type Kind = [category: string, text?: string];
const part = (
  perUnit: number,
  once: number,
  recurring: boolean,
  [category, text = '']: Kind,
): Part => ({
  category,
  text,
  perUnit,
  once,
  recurring,
  share: 0.96,
});
const each = (perUnit: number, ...kind: Kind): Part => part(perUnit, 0, false, kind);
const once = (count: number, ...kind: Kind): Part => part(0, count, false, kind);
const monthly = (perUnit: number, ...kind: Kind): Part => part(perUnit, 0, true, kind);
const monthlyOnce = (count: number, ...kind: Kind): Part => part(0, count, true, kind);
/** In half of the deals. */
const maybe = (chosen: Part): Part => ({ ...chosen, share: 0.5 });

export const projects: readonly Solution[] = [
  {
    names: ['Microsoft 365 migration, # seats', 'Move to Microsoft 365, # users'],
    ask: 'Move # mailboxes off the old Exchange server by quarter end, keep shared calendars and train the front desk.',
    category: 'Cloud',
    units: units(0.4, 0.8, 4, 120),
    parts: [
      monthly(1, 'Office suites', 'Microsoft 365'),
      maybe(monthly(1, 'Mail security')),
      maybe(monthly(0.3, 'Business applications')),
      maybe(monthly(0.2, 'Cloud backup')),
      each(1, 'Migrations', 'Mailbox'),
      maybe(each(1, 'Migrations', 'File share')),
      each(0.1, 'Engineering', 'System engineer'),
      once(4, 'Engineering', 'Project manager'),
      once(6, 'Engineering', 'Support technician'),
      once(1, 'Assessments', 'Licence audit'),
      once(2, 'Travel'),
    ],
  },
  {
    names: ['Firewall refresh, # sites', 'New firewalls for # sites'],
    ask: 'Current firewalls go end of support. Wants like-for-like at # sites with site-to-site VPN and a spare unit.',
    category: 'Security',
    units: units(0.015, 0.035, 2, 8),
    parts: [
      each(1, 'Firewalls'),
      maybe(each(1, 'Switches')),
      maybe(each(1, 'UPS')),
      each(6, 'Patch cables'),
      each(1, 'Onboarding', 'Network installation'),
      each(4, 'Engineering', 'Network engineer'),
      once(3, 'Engineering', 'Project manager'),
      once(1, 'Assessments', 'Security assessment'),
      maybe(monthly(3, 'Security operations', 'Log retention')),
      monthly(1, 'Server care', 'Managed server'),
      each(1, 'Travel'),
    ],
  },
  {
    names: ['Managed endpoint onboarding, # devices', 'Managed workplaces, # devices'],
    ask: 'Asked for a fixed monthly price per device for # laptops and desktops, patching and antivirus included.',
    category: 'Managed services',
    units: units(0.2, 0.6, 4, 90),
    parts: [
      monthly(0.7, 'Endpoint care', 'Managed laptop'),
      monthly(0.3, 'Endpoint care', 'Managed desktop'),
      maybe(monthly(1, 'Endpoint protection')),
      maybe(monthly(1, 'Remote management')),
      maybe(monthlyOnce(1, 'Server care', 'Managed server')),
      once(1, 'Onboarding', 'Onboarding'),
      each(0.25, 'Engineering', 'Support technician'),
      once(4, 'Engineering', 'Project manager'),
      once(1, 'Assessments', 'Security assessment'),
      once(2, 'Travel'),
      maybe(once(1, 'UPS')),
    ],
  },
  {
    names: ['Backup and recovery, # TB', 'Off-site backup, # TB'],
    ask: 'Failed a restore test last month. Needs # TB off site, daily, and somebody who checks that it worked.',
    category: 'Backup',
    units: units(0.06, 0.18, 2, 40),
    parts: [
      monthly(1, 'Cloud storage'),
      monthlyOnce(3, 'Server backup'),
      monthlyOnce(1, 'Server care', 'Managed backup'),
      maybe(monthly(1, 'Cloud backup')),
      once(1, 'Storage'),
      maybe(once(1, 'UPS')),
      once(8, 'Engineering', 'System engineer'),
      once(2, 'Engineering', 'Project manager'),
      once(1, 'Assessments', 'Disaster recovery'),
      once(4, 'Patch cables'),
      once(1, 'Travel'),
    ],
  },
  {
    names: [
      'Wi-Fi survey and rollout, # access points',
      'Wireless for the warehouse, # access points',
    ],
    ask: 'Dead spots in the warehouse and on the upper floor. Wants a survey first, then # access points before peak season.',
    category: 'Networking',
    units: units(0.05, 0.12, 4, 36),
    parts: [
      each(1, 'Access points'),
      each(0.06, 'Switches'),
      each(2, 'Patch cables'),
      maybe(once(1, 'Firewalls')),
      maybe(once(1, 'UPS')),
      once(1, 'Assessments', 'Wi-Fi survey'),
      once(1, 'Onboarding', 'Network installation'),
      each(0.6, 'Engineering', 'Network engineer'),
      once(2, 'Engineering', 'Project manager'),
      maybe(monthlyOnce(1, 'Server care', 'Managed server')),
      once(2, 'Travel'),
    ],
  },
  {
    names: ['Laptop refresh, # units', 'Workplace refresh, # laptops'],
    ask: 'Lease ends in spring. # business laptops, docks and monitors, imaged and delivered to the desks.',
    category: 'Hardware refresh',
    units: units(0.12, 0.4, 3, 60),
    parts: [
      each(1, 'Laptops'),
      each(1, 'Docks'),
      each(1, 'Monitors'),
      maybe(each(1, 'Headsets')),
      maybe(each(0.1, 'Desktops')),
      each(2, 'Patch cables'),
      maybe(monthly(1, 'Endpoint protection')),
      maybe(monthly(1, 'Endpoint care', 'Managed laptop')),
      once(1, 'Onboarding', 'Workstation imaging'),
      each(0.4, 'Engineering', 'Support technician'),
      once(1, 'Travel'),
    ],
  },
  {
    names: ['Server consolidation, # hosts', 'New cluster, # hosts'],
    ask: 'Ageing servers to become one cluster of # hosts. Downtime only on a Sunday.',
    category: 'Projects',
    units: units(0.008, 0.02, 2, 4),
    parts: [
      each(1, 'Rack servers'),
      once(1, 'Storage'),
      each(0.5, 'UPS'),
      maybe(once(1, 'Racks')),
      once(1, 'Switches'),
      each(6, 'Patch cables'),
      each(8, 'Engineering', 'System engineer'),
      once(6, 'Engineering', 'Project manager'),
      maybe(monthly(2, 'Server backup')),
      monthly(1, 'Server care', 'Managed hypervisor'),
      once(2, 'Travel'),
    ],
  },
  {
    names: ['Security awareness and MFA, # users', 'Phishing tests and MFA, # users'],
    ask: 'Cyber insurance asks for MFA for # users, phishing tests and a written policy before renewal.',
    category: 'Security',
    units: units(0.5, 1, 6, 150),
    parts: [
      monthly(1, 'Security operations', 'Phishing simulation'),
      maybe(monthly(1, 'Mail security')),
      maybe(monthly(0.2, 'Security operations', 'Log retention')),
      once(1, 'Assessments', 'Security assessment'),
      once(8, 'Engineering', 'Security consultant'),
      each(0.15, 'Engineering', 'Support technician'),
      once(3, 'Engineering', 'Project manager'),
      once(1, 'Onboarding', 'Onboarding'),
      maybe(each(0.1, 'Headsets')),
      once(1, 'Assessments', 'Licence audit'),
      once(1, 'Travel'),
    ],
  },
  {
    names: ['VoIP replacement, # handsets', 'New telephone system, # handsets'],
    ask: 'Old PBX is failing. # handsets, call queues, keep the main numbers, and the receptionist needs a console.',
    category: 'Projects',
    units: units(0.35, 0.8, 5, 90),
    parts: [
      monthly(1, 'Telephony'),
      each(1, 'Telephones'),
      each(0.3, 'Headsets'),
      each(0.04, 'Switches'),
      each(1, 'Patch cables'),
      each(1, 'Migrations', 'Telephone number'),
      each(0.2, 'Engineering', 'Network engineer'),
      once(3, 'Engineering', 'Project manager'),
      once(1, 'Onboarding', 'Onboarding'),
      maybe(once(1, 'UPS')),
      once(2, 'Travel'),
    ],
  },
  {
    names: ['Co-managed IT agreement, # users', 'Second-level support, # users'],
    ask: 'One internal admin is leaving. Looking for second-level support for # users, on site two days a month.',
    category: 'Managed services',
    units: units(0.2, 0.5, 5, 75),
    parts: [
      monthly(0.8, 'Endpoint care', 'Managed laptop'),
      maybe(monthly(1, 'Remote management')),
      maybe(monthly(0.5, 'Security operations', 'Vulnerability')),
      monthlyOnce(2, 'Server care', 'Managed server'),
      maybe(monthlyOnce(1, 'Server care', 'Managed domain')),
      once(1, 'Onboarding', 'Onboarding'),
      once(1, 'Assessments', 'Security assessment'),
      once(1, 'Assessments', 'Licence audit'),
      once(6, 'Engineering', 'Architect'),
      once(4, 'Engineering', 'Project manager'),
      once(2, 'Travel'),
    ],
  },
  {
    names: ['Print fleet contract, # devices', 'Printers and service, # devices'],
    ask: 'Cost per page too high. # devices, toner included, secure release with badges.',
    category: 'Hardware refresh',
    units: units(0.04, 0.09, 3, 28),
    parts: [
      each(1, 'Laser printers'),
      maybe(each(0.3, 'Label printers')),
      each(1, 'Patch cables'),
      monthly(1, 'Endpoint care', 'Managed printer'),
      maybe(monthlyOnce(1, 'Server care', 'Managed server')),
      once(1, 'Onboarding', 'Onboarding'),
      each(0.5, 'Engineering', 'Support technician'),
      once(2, 'Engineering', 'Project manager'),
      maybe(once(1, 'Switches')),
      once(1, 'Assessments', 'Licence audit'),
      once(2, 'Travel'),
    ],
  },
  {
    names: ['Azure landing zone, # servers', 'Servers to Azure, # machines'],
    ask: 'Wants to move # line-of-business servers to the cloud, with budget alerts and a cost estimate per month.',
    category: 'Cloud',
    units: units(0.02, 0.06, 2, 14),
    parts: [
      monthly(1, 'Compute'),
      monthly(1, 'Cloud storage'),
      monthly(1, 'Server care', 'Managed server'),
      maybe(monthly(1, 'Server backup')),
      maybe(monthly(2, 'Security operations', 'Log retention')),
      once(1, 'Assessments', 'Security assessment'),
      once(1, 'Assessments', 'Disaster recovery'),
      each(3, 'Engineering', 'Architect'),
      once(8, 'Engineering', 'System engineer'),
      once(4, 'Engineering', 'Project manager'),
      maybe(once(1, 'Firewalls')),
    ],
  },
  {
    names: ['Door access and cameras, # doors', 'Cameras and badge readers, # doors'],
    ask: 'New site opens soon: # doors, cameras at the entrances, thirty days of recording.',
    category: 'Projects',
    units: units(0.03, 0.09, 2, 20),
    parts: [
      each(1, 'Door readers'),
      each(1.3, 'Cameras'),
      once(1, 'Switches'),
      once(1, 'Storage'),
      maybe(once(1, 'UPS')),
      each(3, 'Patch cables'),
      once(1, 'Onboarding', 'Network installation'),
      each(2, 'Engineering', 'Network engineer'),
      once(3, 'Engineering', 'Project manager'),
      maybe(monthlyOnce(1, 'Server care', 'Managed server')),
      once(3, 'Travel'),
    ],
  },
  {
    names: ['Compliance gap assessment, # findings', 'Audit follow-up, # findings'],
    ask: 'Auditor gave them # findings. Needs a plan with prices for each finding, the cheap ones first.',
    category: 'Security',
    units: units(0.1, 0.6, 5, 40),
    parts: [
      once(1, 'Assessments', 'Security assessment'),
      once(1, 'Assessments', 'Disaster recovery'),
      maybe(once(1, 'Assessments', 'Licence audit')),
      each(0.7, 'Engineering', 'Security consultant'),
      each(0.3, 'Engineering', 'System engineer'),
      once(4, 'Engineering', 'Project manager'),
      maybe(monthly(1, 'Security operations', 'Vulnerability')),
      maybe(monthly(0.5, 'Security operations', 'Log retention')),
      maybe(once(1, 'Firewalls')),
      once(1, 'Onboarding', 'Onboarding'),
      once(2, 'Travel'),
    ],
  },
  {
    names: ['Network cabling, # drops', 'Cabling for the new office, # drops'],
    ask: 'Office move: # drops, two racks, labelled and certified, before the furniture arrives.',
    category: 'Networking',
    units: units(0.4, 1, 10, 160),
    parts: [
      each(2, 'Patch cables'),
      once(2, 'Racks'),
      each(0.03, 'Switches'),
      maybe(each(0.03, 'UPS')),
      each(0.35, 'Engineering', 'Network engineer'),
      each(0.15, 'Engineering', 'Support technician'),
      once(4, 'Engineering', 'Project manager'),
      once(1, 'Onboarding', 'Cabling certification'),
      maybe(each(0.04, 'Access points')),
      maybe(once(1, 'Assessments', 'Wi-Fi survey')),
      once(4, 'Travel'),
    ],
  },
  {
    names: [
      'Managed detection and response, # endpoints',
      'Round-the-clock monitoring, # endpoints',
    ],
    ask: 'Board wants round-the-clock monitoring on # endpoints after an incident at a supplier.',
    category: 'Security',
    units: units(0.5, 0.9, 6, 130),
    parts: [
      monthly(1, 'Security operations', 'Managed detection'),
      maybe(monthly(1, 'Endpoint protection')),
      maybe(monthly(0.3, 'Security operations', 'Vulnerability')),
      once(1, 'Onboarding', 'Onboarding'),
      once(1, 'Assessments', 'Security assessment'),
      once(10, 'Engineering', 'Security consultant'),
      each(0.1, 'Engineering', 'Support technician'),
      once(4, 'Engineering', 'Project manager'),
      maybe(once(1, 'Assessments', 'Disaster recovery')),
      maybe(once(1, 'Firewalls')),
      once(1, 'Travel'),
    ],
  },
];

const small = units(0.05, 0.2, 1, 25);

const order = (name: string, size: Units, ...parts: Part[]): Solution => ({
  names: [name],
  ask: '',
  category: '',
  units: size,
  parts,
});

/** Quotes without a deal. */
export const orders: readonly Solution[] = [
  order(
    'Workstations',
    small,
    each(1, 'Desktops'),
    each(2, 'Monitors'),
    each(1, 'Headsets'),
    each(2, 'Patch cables'),
    maybe(each(0.5, 'Label printers')),
    maybe(each(0.2, 'Workstations')),
    once(1, 'Onboarding', 'Workstation imaging'),
    each(0.5, 'Engineering', 'Support technician'),
    once(1, 'Travel'),
  ),
  order(
    'New starters',
    small,
    each(1, 'Laptops'),
    each(1, 'Docks'),
    each(1, 'Monitors'),
    each(1, 'Headsets'),
    each(1, 'Starter kits'),
    monthly(1, 'Office suites', 'Microsoft 365'),
    monthly(1, 'Endpoint protection'),
    each(0.5, 'Engineering', 'Support technician'),
  ),
  order(
    'Licence renewal',
    units(0.3, 0.9, 4, 80),
    monthly(1, 'Office suites'),
    maybe(monthly(1, 'Mail security')),
    maybe(monthly(0.5, 'Endpoint protection')),
    monthly(0.2, 'Business applications'),
    maybe(monthly(0.1, 'Design tools')),
    maybe(monthly(0.3, 'Cloud backup')),
    once(1, 'Assessments', 'Licence audit'),
    once(2, 'Engineering', 'Support technician'),
  ),
  order(
    'Conference room',
    units(0.01, 0.03, 1, 4),
    each(2, 'Monitors'),
    each(4, 'Headsets'),
    each(1, 'Docks'),
    each(1, 'Access points'),
    each(6, 'Patch cables'),
    each(1, 'UPS'),
    each(5, 'Engineering', 'System engineer'),
    once(1, 'Travel'),
  ),
  order(
    'Network spares',
    units(0.01, 0.04, 1, 6),
    each(1, 'Switches'),
    each(1, 'Access points'),
    maybe(each(1, 'Firewalls')),
    each(10, 'Patch cables'),
    maybe(each(1, 'UPS')),
    each(2, 'Engineering', 'Network engineer'),
    once(1, 'Onboarding', 'Network installation'),
    once(1, 'Travel'),
  ),
  order(
    'Printers and labels',
    units(0.02, 0.06, 1, 8),
    each(1, 'Laser printers'),
    each(0.5, 'Label printers'),
    each(2, 'Patch cables'),
    maybe(monthly(1, 'Endpoint care', 'Managed printer')),
    each(1, 'Engineering', 'Support technician'),
    once(1, 'Onboarding', 'Onboarding'),
    once(1, 'Travel'),
  ),
  order(
    'Branch office',
    units(0.004, 0.012, 1, 3),
    each(1, 'Branch offices'),
    each(1, 'Racks'),
    each(12, 'Patch cables'),
    each(1, 'Onboarding', 'Network installation'),
    each(8, 'Engineering', 'Network engineer'),
    monthly(1, 'Server care', 'Managed server'),
    once(2, 'Travel'),
  ),
];
