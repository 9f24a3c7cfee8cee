SET log_statement = 'none';
SET log_min_duration_statement = -1;
SET log_min_error_statement = 'panic';
\set password `cat /etc/postgresql/mesh/superuser`
ALTER ROLE postgres PASSWORD :'password';
