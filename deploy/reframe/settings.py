"""An example: a cluster with Slurm. PBS, LSF, Flux and ssh are other words for 'scheduler'."""
site_configuration = {
    'systems': [{
        'name': 'cluster',
        'hostnames': ['.*'],
        'partitions': [{
            'name': 'bench',
            'scheduler': 'squeue',      # 'slurm' if accounting (sacct) is on
            'launcher': 'local',        # the job itself measures: srun would bind it to one processor
            'access': ['--partition=bench'],
            'environs': ['builtin'],
            'max_jobs': 10000,          # all nodes at once
        }],
    }],
}
