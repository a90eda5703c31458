"""One case per node, with all tests inside it: reframe -C settings.py -c unixmark.py -r --distribute=idle"""
import json
import os

import reframe as rfm
import reframe.utility.osext as osext
import reframe.utility.sanity as sn


@rfm.simple_test
class unixmark(rfm.RunOnlyRegressionTest):
    tool = variable(str, value='unixmark')          # -S tool=/shared/unixmark
    words = variable(str, value='run index')        # -S words='run cpu memory --copies max'
    fleet = variable(str, value='reframe')          # the fleet run's name
    into = variable(str)                            # and its directory: -S into=$PWD/fleet
    valid_systems = ['*']
    valid_prog_environs = ['*']
    num_tasks = 1
    exclusive_access = True
    time_limit = '2h'

    @run_before('run')
    def measure(self):
        verb, *rest = self.words.split()
        self.executable = self.tool
        self.executable_opts = [verb, '--fleet', self.fleet, '--emit', *rest]

    @sanity_function
    def is_whole(self):
        """Not by exit code, but by what `collect` reports for this node."""
        journal = os.path.join(self.stagedir, self.stdout.evaluate())
        osext.run_command([self.tool, 'collect', journal, '--into', self.into, '--run', self.fleet], check=False, shell=False)
        said = osext.run_command([self.tool, 'fleet', 'status', self.into, '--format', 'json'], check=False, shell=False).stdout
        with open(journal) as lines:
            self.node = json.loads(lines.readline())['fleet']['node']
        entry = next(entry for entry in json.loads(said)['entries'] if entry['node'] == self.node)
        self.summary = os.path.join(self.into, os.path.splitext(entry['journal'])[0] + '.json')
        return sn.assert_eq(entry['state'], 'whole', msg=f"{self.node}: {entry['reason']}")

    @run_before('performance')
    def scores(self):
        with open(self.summary) as file:
            figures = json.load(file)['figures']
        self.perf_variables = {
            f"{figure['test']}, {figure['copies']} copies, load {figure['load']}, condition {figure['condition']}":
                sn.make_performance_function(sn.defer(figure['value']), figure['unit'])
            for figure in figures if figure['value'] is not None and not figure.get('control')
        }
